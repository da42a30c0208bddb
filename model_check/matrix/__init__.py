"""The crash matrix: each handler, a fault between each pair of its effects, and what becomes of the cluster."""

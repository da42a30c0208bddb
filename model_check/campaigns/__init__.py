"""Campaigns: many live runs of one cluster, each recorded and judged, and those that are not explained made small."""

"""Proofs with z3: induction over epochs that are mathematical integers, and runs of bounded length."""

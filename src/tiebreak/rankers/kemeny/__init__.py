"""Exact Kemeny–Young: the order with the fewest pairwise disagreements, and the proof of it."""

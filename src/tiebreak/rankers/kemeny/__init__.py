"""Exact Kemeny–Young: the order with the fewest pairwise disagreements, with a proof."""

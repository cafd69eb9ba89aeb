"""Tasks of Inspect: `fair`, which asks unseen questions, and `replay`."""

DESIGN_KEY = "tiebreak_fair"
"""Log metadata key of `fair`: how its questions were drawn, or which session they are of."""

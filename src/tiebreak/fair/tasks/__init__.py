"""Tasks of Inspect: `fair`, which asks unseen questions, and `replay`."""

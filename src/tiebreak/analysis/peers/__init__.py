"""Peer review: who is best, who favours itself, and what the panel of reviewers is worth."""

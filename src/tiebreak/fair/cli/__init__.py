"""The verbs `bank` and `contamination`."""

"""The verbs of the private bank and of contamination."""

"""Contamination, and star scores over samples, dates, causes and fewer questions."""

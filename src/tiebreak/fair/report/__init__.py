"""Sheets and figures of the findings of `tiebreak.fair.analysis`."""

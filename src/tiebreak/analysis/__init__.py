"""Numbers about ballots, pools and tables, as frozen dataclasses.

Nothing is imported here, so that a contest over a table of scores does not load Inspect.
"""

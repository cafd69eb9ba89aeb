"""Every finding as sheets, as data for JSON, and some as rows for CSV: a module for each.

In each module `sheets_of(finding)` makes what a reader sees, `data_of(finding)` the documented
JSON, and `rows_of(finding)` the rows of CSV, where there are any.
"""

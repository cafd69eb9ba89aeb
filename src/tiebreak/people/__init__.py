"""Votes by people: the schedule of questions, a page in the browser, and a file of votes.

turns       answers → the items of a votes file; the next pair for each rater; storing votes
guard       access control: secrets, forms, headers
page        the page (FastAPI); untrusted answers → safe HTML
"""

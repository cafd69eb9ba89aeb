"""People vote: which answers they are shown, a page in their browser, and a file of their votes.

turns       answers → the items of a votes file; which pair is next, for whom, and what is kept
text        hostile answers → safe HTML
guard       who may do what: secrets, forms, headers
page        the page (FastAPI)
"""

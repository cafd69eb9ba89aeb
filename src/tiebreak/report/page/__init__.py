"""The HTML report: one page that works from disk, whatever its models wrote.

From logs to a page, in this order::

    contents   everything that a page shows, from logs that are read once; what is not there is None
    answers    what the judges were given: task, rubric and answers of every item
    items      the table of items, and each item's story: ballots, ranks, answers
    store      stories as compressed chunks, which the page unpacks when one is opened
    gallery    the figures; `tables` are those of the terminal
    parts      what is said about each log; `sections` puts them in order, `view` is their type
    build      page, style and script into one file, and the pictures beside it

`templates` and `static` are what the browser gets. Foreign text reaches the page through Jinja's
escaping or as text nodes, never as markup; a content security policy holds without exceptions.
"""

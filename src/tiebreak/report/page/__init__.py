"""The HTML report: a page that works from disk, whatever its models wrote.

From logs to a page, in this order::

    contents   everything that a page shows, from logs that are read once and called by their
               names; what is not there is None
    items      the table of items, and each item's story: task, rubric, answers, ballots, ranks;
               as compressed chunks, which the page unpacks when one is opened: in the page, or as
               scripts beside it where they are too much for one file
    sections   the sheets of the terminal, each with its figures, in order; boards side by side
    view       what the templates get, and the gallery of the figures
    build      page, style and script into one file, and what is beside it

`templates` and `static` are what the browser gets. Foreign text reaches the page through Jinja's
escaping or as text nodes, never as markup; a content security policy holds without exceptions.
"""

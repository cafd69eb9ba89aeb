"""The HTML report: a page that works from disk and is safe whatever the models wrote.

From logs to a page, in this order::

    contents   everything that a page shows, computed from logs that are read once; parts that do
               not apply are None
    items      the table of items, and each item's story (task, rubric, answers, ballots, ranks)
               in compressed chunks, which the page unpacks when an item is opened; they are in
               the page, or in scripts beside it if they are too large for one file
    sections   the terminal's sheets in order, each with its figures; boards side by side
    view       the data that the templates get, and the gallery of the figures
    build      writes page, style and script as one file, and the files beside it

The browser gets `templates` and `static`. Foreign text reaches the page through Jinja's escaping
or as text nodes, never as markup; the content security policy has no exceptions.
"""

"""How to install what is optional: the one place that words it.

Tiebreak is installed from a clone. `pip install 'tiebreak[report]'` would look on an index, which
has no such package, or one day a stranger's.
"""


def to_install(extra: str, *packages: str) -> str:
    """The commands that install an extra, to stand after "… is needed: ", without a full stop.

    `packages` are what of it is missing, where a few packages are all that is needed.
    """
    clone = f"pip install '.[{extra}]'"
    if not packages:
        return f"in a clone of Tiebreak, {clone}"
    return f"pip install {' '.join(packages)}, or in a clone of Tiebreak {clone}"

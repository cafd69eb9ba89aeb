"""Install instructions for optional packages, kept in one place.

Tiebreak is installed from a clone. `pip install 'tiebreak[report]'` would use an index, where no
package, or someone else's, has this name.
"""


def to_install(extra: str, *packages: str) -> str:
    """Commands that install an extra, to follow "… is needed: " in a message, without a full stop.

    `packages` are the missing packages of the extra, if installing only these is enough.
    """
    clone = f"pip install '.[{extra}]'"
    if not packages:
        return f"in a clone of Tiebreak, {clone}"
    return f"pip install {' '.join(packages)}, or in a clone of Tiebreak {clone}"

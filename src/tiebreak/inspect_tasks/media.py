"""What belongs to a question beside its text: refused, shown to the judge, or said to be missing.

Images travel in a sample's input, where Inspect reads addresses before the sample starts and logs
what they hold once, as an attachment; it would write metadata out twice.
"""

import mimetypes
import os
from collections.abc import Sequence
from pathlib import Path

from tiebreak.candidates import Item, Medium
from tiebreak.words import count


def refusal(given: Sequence[Item], n_items: int) -> str:
    """Why items with media are not judged, and how they can be."""
    benchmarks = ", ".join(dict.fromkeys(item.benchmark for item in given))
    media = _listed([medium for item in given for medium in item.media])
    return (
        f"{benchmarks}: {len(given):,} of {count(n_items, 'item')}, such as {given[0].item_id}, "
        f"came with {media}: add -T media=mark to judge by the text, with a mark of what is not "
        "shown, or -T media=show to show images that the logs hold to a judge that can see."
    )


def images_of(item: Item) -> tuple[Medium, ...]:
    """The images of an item that can be shown: those that its log holds or can be read here."""
    return tuple(m for m in item.media if m.kind == "image" and _can_be_read(m.source))


def _can_be_read(source: str) -> bool:
    """Whether an image can be had. A log may name any file: only images go to a provider."""
    if source.startswith(("data:", "http://", "https://")):
        return True
    path = Path(source.removeprefix("file://"))
    kind = mimetypes.guess_type(path.name, strict=False)[0] or ""
    # A relative path meant something in another folder; pathlib fails where a name is too long.
    return kind.startswith("image/") and path.is_absolute() and os.path.isfile(path)  # noqa: PTH113


def note(media: Sequence[Medium], how: str) -> str:
    """What a judge reads of images and files: `how` is "not shown" or "shown above"."""
    were = "was given; it is" if len(media) == 1 else "were given; they are"
    return f"({_listed(media)} {were} {how})"


def _listed(media: Sequence[Medium]) -> str:
    """Such as "2 images and a file (data.csv)"."""
    kinds = dict.fromkeys(medium.kind for medium in media)
    *most, last = (_counted(kind, [m.source for m in media if m.kind == kind]) for kind in kinds)
    return f"{', '.join(most)} and {last}" if most else last


def _counted(kind: str, sources: Sequence[str]) -> str:
    noun = {"audio": "recording", "data": "data part"}.get(kind, kind)
    n, article = len(sources), "an" if noun[0] in "aeiou" else "a"
    counted = f"{article} {noun}" if n == 1 else count(n, noun)
    return f"{counted} ({', '.join(sources[:3])}{', …' * (n > 3)})" if kind == "file" else counted

"""Numbers in sentences, and names in one text."""


def percent(rate: float) -> str:
    """A rate in [0, 1] as whole percent; only 0 and 1 themselves print as 0% and 100%."""
    if 0 < rate < 0.01:
        return "<1%"
    if 0.99 < rate < 1:
        return ">99%"
    return f"{rate:.0%}"


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 item, 1,200 items; `many` for plurals that take more than an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def split_names(text: str) -> list[str]:
    """The names in "a, b,c", without the spaces around them; "a,,b" and "" hold an empty name."""
    return [name.strip() for name in text.split(",")]

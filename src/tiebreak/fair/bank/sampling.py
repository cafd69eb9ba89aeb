"""Draw the questions of a session: unseen, spread over categories, one per original question.

    1. Every category gets its share of the k questions: as many as every other (`equal`), or
       by the number of its originals in the bank (`proportional`).
    2. Within a category originals (`raw_uuid`) are drawn with equal probability. Originals with a
       seen sibling are drawn only if no original without one is left in the whole bank.
    3. For each original one of its unseen siblings is drawn with equal probability.
    4. The questions are asked in an order drawn for the whole sample.

Source: LLMEval-Fair, §2.2.1 ("1,000 questions randomly sampled"). Tables 1 and 8 give each of ten
subjects in thirtieths of a point, and the ten add up to the absolute score: one hundred questions
of each, whatever their number in the bank. So `equal` is the default, and a mean over the sample
is the mean over subjects.

Results depend only on the arguments: the same entries (in any order), k and seed give the same
sample on every machine.

With `balanced`, the true/false questions of a sample are changed until "true" is right as often as
"false". Of the statements made of a question with n options one is true and n - 1 are false, so
that always answering "false" is right in (n - 1)/n of a plain sample (figure 7). Two changes keep
the sample's size, its categories, its number of true/false questions and one question per original:
asking the sibling with the other key, and, if no drawn original has one, replacing a drawn original
by one that was not drawn.
"""

import hashlib
import heapq
import random
from bisect import bisect_right
from collections import ChainMap, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from tiebreak.fair.bank.errors import BankError

if TYPE_CHECKING:
    from sqlalchemy import Engine

Share = Literal["equal", "proportional"]
"""Distribution of a sample over categories."""

SHARES: Final[tuple[Share, ...]] = get_args(Share)


class Entry(NamedTuple):
    """The fields of a question that sampling needs; `answer` is its key."""

    uuid: str
    raw_uuid: str
    category: str
    type: str
    answer: str

    @property
    def truth(self) -> str:
        """The key of a true/false question, "true" or "false"; "" for other types."""
        return self.answer if self.type == "true_false" else ""


def entries(engine: "Engine") -> tuple[Entry, ...]:
    """Read the questions of a bank that may be asked: the approved ones, by uuid."""
    from sqlalchemy import select

    from tiebreak.fair.bank.schema import QUESTIONS

    q = QUESTIONS.c
    chosen = select(q.uuid, q.raw_uuid, q.category, q.type, q.answer)
    with engine.connect() as connection:
        rows = connection.execute(chosen.where(q.status == "approved"))
        return tuple(sorted((Entry(*row) for row in rows), key=lambda entry: entry.uuid))


def fingerprint(entries: Iterable[Entry]) -> str:
    """16 hex digits that differ if anything differs that affects draws or keys."""
    digest = hashlib.sha256()
    for entry in sorted(entries, key=lambda entry: entry.uuid):
        # `repr`, because joined texts of two different entries might be equal.
        digest.update(repr(tuple(entry)).encode())
    return digest.hexdigest()[:16]


class OriginalQuestions:
    """Questions that may be asked, by original; built once for many draws from a bank.

    `siblings` has the questions of each original, sorted by uuid. `by_category` has the originals
    of each category (that of their first uuid), `places` category and index there of each original,
    `raws` the original of every uuid.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.siblings: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in sorted(entries, key=lambda entry: entry.uuid):
            self.siblings[entry.raw_uuid].append(entry)
        self.raws = {
            question.uuid: raw for raw, questions in self.siblings.items() for question in questions
        }
        self.by_category: dict[str, list[str]] = {}
        self.places: dict[str, tuple[str, int]] = {}
        for raw, questions in self.siblings.items():
            raws = self.by_category.setdefault(questions[0].category, [])
            self.places[raw] = questions[0].category, len(raws)
            raws.append(raw)
        self.sizes = {category: len(raws) for category, raws in self.by_category.items()}


def draw(
    entries: Iterable[Entry] | OriginalQuestions,
    k: int,
    seed: str,
    *,
    seen: Collection[str] = (),
    balanced: bool = False,
    share: Share = "equal",
) -> list[str]:
    """Draw k questions; return their uuids in the order in which they are asked.

    Args:
        entries: questions that may be asked. The category of an original is that of its first uuid.
        k: number of questions, at least 1.
        seed: any text that identifies the draw.
        seen: uuids that are not asked again.
        balanced: whether both keys are equally frequent in a category's true/false questions.
        share: distribution of k over categories. If a category has too few questions, the others
            get the rest.

    Raises:
        BankError: fewer than k originals have an unseen question.
    """
    if k < 1:
        raise BankError(f"a sample needs at least one question, not {k}")
    rng = random.Random(f"sample {k} {seed}")
    bank = entries if isinstance(entries, OriginalQuestions) else OriginalQuestions(entries)
    frame = _Frame(bank, seen)
    again = frame.again
    n_fresh, n_again = sum(frame.n_fresh.values()), sum(map(len, again.values()))
    if n_fresh + n_again < k:
        raise BankError(_too_few(k, n_fresh + n_again, frame))
    weights = frame.sizes if share == "proportional" else dict.fromkeys(frame.sizes, 1)
    low, high = dict.fromkeys(weights, 0), frame.n_fresh
    if k >= n_fresh:
        low, high = high, {name: n + len(again[name]) for name, n in high.items()}
    picked: dict[str, Entry] = {}
    surplus = 0
    for category, n in allocate(k, weights, low, high, rng).items():
        from_fresh = min(n, frame.n_fresh[category])
        raws = frame.sample(category, from_fresh, rng)
        raws += rng.sample(again[category], n - from_fresh)
        chosen = {raw: rng.choice(frame.unseen[raw]) for raw in raws}
        if balanced:
            # A replacement must be as fresh as the original that it replaces.
            spare = frame.fresh(category) if k < n_fresh else again[category]
            surplus = balance(chosen, frame.unseen, spare, surplus, rng)
        picked |= chosen
    asked = sorted(entry.uuid for entry in picked.values())
    rng.shuffle(asked)
    return asked


def linked(
    entries: Iterable[Entry],
    k: int,
    seed: str,
    session: str,
    *,
    anchors: float = 0.2,
    balanced: bool = False,
    share: Share = "equal",
) -> list[str]:
    """Draw k questions, round(anchors · k) of which are the same in every session; their uuids.

    The anchors are drawn with `seed` alone, the rest with (seed, session) from the other originals,
    so that models asked at different times have the anchors in common. Each session mixes them with
    the others in an order of its own.

    `anchors` is in [0, 1]: with 1 every session of the study `seed` has the same questions. The
    other arguments are those of `draw`.

    Raises:
        BankError: `anchors` is not in [0, 1], or the bank has fewer than k originals.
    """
    if not 0 <= anchors <= 1:
        raise BankError(f"anchors is a share of the sample, 0 to 1, not {anchors:g}")
    bank = tuple(entries)
    n = round(anchors * k)
    common = draw(bank, n, seed, balanced=balanced, share=share) if n else []
    raws = {entry.uuid: entry.raw_uuid for entry in bank}
    taken = {raws[uuid] for uuid in common}
    left = [entry for entry in bank if entry.raw_uuid not in taken]
    # Quoted, so that different pairs of seed and session have different names.
    name = f"{seed!r} {session!r}"
    if n < k and len({entry.raw_uuid for entry in left}) < k - n:
        raise BankError(_too_few(k, len(set(raws.values())), _Frame(OriginalQuestions(bank), ())))
    rest = draw(left, k - n, name, balanced=balanced, share=share) if n < k else []
    asked = common + rest
    random.Random(f"order {name}").shuffle(asked)
    return asked


def allocate(
    k: int,
    weights: Mapping[str, int],
    low: Mapping[str, int],
    high: Mapping[str, int],
    rng: random.Random,
) -> dict[str, int]:
    """Number n of the k questions for each category, low ≤ n ≤ high, in proportion to its weight.

    By Sainte-Laguë's method, the next question goes to the category with the least (n + ½)/weight,
    which minimises Σ n²/weight within the bounds; `rng` breaks ties. Questions that a category
    cannot take go to the others in the same way. Σ low ≤ k ≤ Σ high.
    """
    order = sorted(weights)
    rng.shuffle(order)
    n = {category: low[category] for category in weights}
    claims = [
        ((2 * n[category] + 1) / weights[category], place, category)
        for place, category in enumerate(order)
        if n[category] < high[category]
    ]
    heapq.heapify(claims)
    for _ in range(k - sum(n.values())):
        _, place, category = claims[0]
        n[category] += 1
        if n[category] < high[category]:
            claim = (2 * n[category] + 1) / weights[category]
            heapq.heapreplace(claims, (claim, place, category))
        else:
            heapq.heappop(claims)
    return {category: n[category] for category in sorted(n)}


class _Frame:
    """The originals that are left: those without a seen sibling, and those with unseen siblings.

    Building it takes time in proportion to the seen questions, not to the bank.
    """

    def __init__(self, bank: OriginalQuestions, seen: Collection[str]) -> None:
        self.sizes, self._by_category = bank.sizes, bank.by_category
        seen = frozenset(seen)
        touched = {bank.raws[uuid] for uuid in seen if uuid in bank.raws}
        left = {
            raw: [entry for entry in bank.siblings[raw] if entry.uuid not in seen]
            for raw in touched
        }
        self.unseen: Mapping[str, list[Entry]] = ChainMap(left, bank.siblings)
        self._touched: dict[str, list[int]] = {category: [] for category in bank.sizes}
        self.again: dict[str, list[str]] = {category: [] for category in bank.sizes}
        for (category, place), raw in sorted((bank.places[raw], raw) for raw in touched):
            self._touched[category].append(place)
            if left[raw]:
                self.again[category].append(raw)
        self.n_fresh = {name: n - len(self._touched[name]) for name, n in bank.sizes.items()}

    def fresh(self, category: str) -> Iterator[str]:
        """The originals of a category that have no seen sibling."""
        touched = frozenset(self._touched[category])
        return (
            raw for place, raw in enumerate(self._by_category[category]) if place not in touched
        )

    def sample(self, category: str, n: int, rng: random.Random) -> list[str]:
        """Draw n of `fresh` as by `rng.sample`, but without making a list of it."""
        fresh_before = [place - nth for nth, place in enumerate(self._touched[category])]
        raws = self._by_category[category]
        drawn = rng.sample(range(self.n_fresh[category]), n)
        return [raws[place + bisect_right(fresh_before, place)] for place in drawn]


def _too_few(k: int, n: int, frame: _Frame) -> str:
    total = sum(frame.sizes.values())
    return (
        f"a sample of {k:,} needs as many originals with a question that may be asked and was not "
        f"seen; the bank has {n:,} of {total:,}: import more questions, approve those under "
        "review, or ask fewer"
    )


def balance(
    chosen: dict[str, Entry],
    unseen: Mapping[str, Sequence[Entry]],
    spare: Iterable[str],
    surplus: int,
    rng: random.Random,
) -> int:
    """Balance the keys in `chosen`, the questions of one category by original, as far as possible.

    If the number is odd, one key occurs once more: the one that is behind in the sample so far.

    `unseen` has the questions of each original that may be asked, `spare` the originals of the
    category that may replace others. `surplus` is the number of keys "true" minus that of "false"
    in the sample so far; the return value includes this category.
    """
    n_true = sum(question.truth == "true" for question in chosen.values())
    n_false = sum(question.truth == "false" for question in chosen.values())
    total = n_true + n_false
    wanted = total // 2 if total % 2 == 0 or surplus > 0 else (total + 1) // 2
    if total % 2 and surplus == 0:
        # Neither key is behind, so take the number of "true" that needs fewer changes.
        wanted = total // 2 if n_true <= total // 2 else (total + 1) // 2
    lacking = "true" if n_true < wanted else "false"
    missing = left = abs(wanted - n_true)
    able = [
        raw
        for raw, question in chosen.items()
        if question.truth not in ("", lacking) and _with_key(unseen[raw], lacking)
    ]
    for raw in rng.sample(able, min(left, len(able))):
        chosen[raw] = rng.choice(_with_key(unseen[raw], lacking))
        left -= 1
    if left:
        entitled = dict.fromkeys(spare)
        going = [
            raw
            for raw, question in chosen.items()
            if raw in entitled and question.truth not in ("", lacking)
        ]
        coming = [raw for raw in entitled if raw not in chosen and _with_key(unseen[raw], lacking)]
        n = min(left, len(going), len(coming))
        for old, new in zip(rng.sample(going, n), rng.sample(coming, n), strict=True):
            del chosen[old]
            chosen[new] = rng.choice(_with_key(unseen[new], lacking))
        left -= n
    n_true += missing - left if lacking == "true" else left - missing
    return surplus + 2 * n_true - total


def _with_key(questions: Sequence[Entry], key: str) -> list[Entry]:
    return [question for question in questions if question.truth == key]

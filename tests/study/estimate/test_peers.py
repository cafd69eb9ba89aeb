"""Estimates of peer review: exact calls, prompts by brute force, each reviewer's own price."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.cases import cases
from tests.study.estimate.builders import LETTERS, ONE, contest, contests, known
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.prices import Price
from tiebreak.scorers.contest import Contest
from tiebreak.scorers.questions import ReviewQuestion
from tiebreak.scorers.session import ProtocolError
from tiebreak.study.estimate import EstimateError
from tiebreak.study.estimate.cost import read_judges, read_matching, read_protocols
from tiebreak.study.estimate.dry_judge import TokenCounter
from tiebreak.study.estimate.estimate import Estimate, Judges, ProtocolEstimate, estimate
from tiebreak.study.estimate.prices import PricedModel
from tiebreak.study.estimate.sheet import assumptions, data_of, judges_and_prices, notes
from tiebreak.study.estimate.totals import Range


def panel(*models: str, price: Price | None = None) -> Judges:
    return Judges(peers=tuple(PricedModel(model, price) for model in models))


def found(
    label: str,
    items: Sequence[Contest],
    judges: Judges,
    counter: TokenCounter = ONE,
    **options: Any,
) -> Estimate:
    return estimate(items, read_protocols(label), judges, counter, **options)


def one(*arguments: Any, **options: Any) -> ProtocolEstimate:
    [row] = found(*arguments, **options).protocols
    return row


@pytest.mark.parametrize("sample", [None, 4])
@pytest.mark.parametrize("n_outsiders", [0, 3])
@pytest.mark.parametrize("label", ["peer_review", "peer_review:degree=2", "peer_review:degree=5"])
def test_every_reviewer_is_asked_once_where_two_answers_differ(
    label: str, n_outsiders: int, sample: int | None
) -> None:
    items = [*contests(5, 6), *contests(7, 6, distinct=3), *contests(9, 6, distinct=1)]
    models = [*(f"x/m{i}" for i in range(6)), *(f"o{i}" for i in range(n_outsiders))]
    row = one(label, items, panel(*models), sample=sample)
    assert row.calls == Range(*[12 * len(models)] * 3)
    assert row.calls_per_item.likely == pytest.approx(12 * len(models) / 21)
    assert row.fixed
    assert row.depth == (1, 1, 1)


def test_the_prompts_are_those_of_the_protocol() -> None:
    """Every prompt has the same letters, in whatever order the answers are shown."""
    items = contests(6, 4)[::-1]
    labels = [f"R{number}" for number in range(1, 5)]
    letters = []
    for item in items:
        shown = dict(zip(labels, item.answers, strict=True))
        prompt = ReviewQuestion(item, shown, "x").prompt()
        letters.append(len(f"{prompt.system}\n{prompt.user}"))
    row = one("peer_review", items, panel("m0", "m3", "o1"), LETTERS)
    assert row.tokens_in.likely == 3 * sum(letters)
    assert row.longest == dict.fromkeys(("m0", "m3", "o1"), max(letters))


def test_a_bill_by_hand() -> None:
    """Three reviewers of four items; every text is one token, each reply has 9 hidden ones."""
    prices = (Price(2, 17), Price(30, 0), Price(0, 1))
    judges = Judges(peers=tuple(PricedModel(f"m{i}", price) for i, price in enumerate(prices)))
    row = one("peer_review", contests(4, 3), judges, reasoning_tokens=9)
    # In the high case the schema of the reply is one more text.
    assert row.tokens_in == (12, 12, 24)
    assert row.tokens_out == (120, 120, 120)
    # 4 items · (1·2 + 10·17  +  1·30 + 10·0  +  1·0 + 10·1) = 4 · 212 millionths; high: one more
    # token in for each, 4 · (212 + 2 + 30 + 0).
    assert row.cost == pytest.approx((848e-6, 848e-6, 976e-6))


def test_a_panel_costs_what_its_members_cost() -> None:
    items = contests(8, 5)
    peers = [PricedModel(f"m{i}", Price(i + 1, 0)) for i in range(5)]
    whole = one("peer_review", items, Judges(peers=tuple(peers)), LETTERS).cost
    # Each of them in two of five panels of two.
    pairs = zip(peers, [*peers[1:], peers[0]], strict=True)
    parts = [one("peer_review", items, Judges(peers=pair), LETTERS).cost for pair in pairs]
    assert whole is not None
    for end in (-1, 0, 1):
        # The range of a sum of samples is narrower than the sum of ranges; here all are counted.
        assert whole.at(end) == pytest.approx(
            sum(part.at(end) for part in parts if part is not None) / 2, rel=0.05 if end else 1e-9
        )


def test_a_price_that_is_not_known() -> None:
    judges = Judges(peers=(PricedModel("m0", Price(1, 1)), PricedModel("m1")))
    estimated = found("peer_review", contests(2, 2), judges)
    assert estimated.protocols[0].cost is None
    assert any("No price is known for m1: add --price" in note for note in notes(estimated))
    assert [*judges_and_prices(judges)] == ["2 peers: m0 ($1 in, $1 out per million tokens), m1"]


def long_first() -> list[Contest]:
    """Two items of five models, of which `m0` gave a long answer."""
    names = [f"m{i}" for i in range(1, 5)]
    answers = {"m0": "word " * 10_000, **{name: name for name in names}}
    return [contest(answers, number) for number in range(2)]


SPARSE = "peer_review:degree=4"


def test_nobody_is_shown_its_own_answer_in_sparse_mode() -> None:
    models = ("x/m0", "m1", "m2", "o")
    whole = one("peer_review", long_first(), panel(*models), LETTERS).longest
    assert all(whole[model] > 50_000 for model in models)
    sparse = one(SPARSE, long_first(), panel(*models), LETTERS).longest
    # Four answers of others are all that the first three can be shown.
    assert sparse["x/m0"] < 10_000
    assert min(sparse["m1"], sparse["m2"]) > 50_000


def test_who_is_who_where_names_do_not_tell() -> None:
    matching = read_matching('{"a": "m0"}')
    judges = panel("a", "m1", "m2")
    estimated = found(SPARSE, long_first(), judges, LETTERS, reviewers=matching)
    assert estimated.protocols[0].longest["a"] < 10_000
    assert [one.candidate for one in estimated.reviewers] == ["m0", "m1", "m2"]
    assert not any("no candidate" in note for note in notes(estimated))
    unmatched = found("peer_review", long_first(), panel("a", "b", "m1"))
    assert "By name, a and b are no candidates" in " ".join(notes(unmatched))
    for text, read in (("m0, m1,m2", ["m0", "m1", "m2"]), ("m0", "m0"), (None, None)):
        assert read_matching(text) == read


def test_the_judge_and_the_peers_do_not_meet() -> None:
    """A reviewer that is called as the role is leaves the judge's bill alone."""
    items = [contest({"judge": "a", "m": "b"})]
    peers = (PricedModel("x/judge", Price(0, 1e6)), PricedModel("m", Price(0, 0)))
    judges = Judges("j", Price(0, 0), peers=peers)
    listing, review = found("listwise,peer_review", items, judges).protocols
    assert (listing.cost, review.cost) == ((0, 0, 0), (1, 1, 1))
    assert (listing.longest, review.longest) == ({"j": 1}, {"x/judge": 1, "m": 1})


def test_a_log_tells_the_tokens_of_each_reviewer() -> None:
    of_m0 = {"m0": (Range(90, 100, 110), Range(900, 1000, 1100))}
    tokens = {"list": (Range(1, 1, 1), Range(2, 2, 2))}
    learnt = known(models=("m0", "j"), tokens=tokens, repairs=0.5, reviews=of_m0)
    one_each = Price(1, 1)
    judges = replace(panel("m0", "m1", price=one_each), judge="j", price=one_each)
    estimated = found("listwise,peer_review", contests(2, 2), judges, experience=learnt)
    listing, review = estimated.protocols
    # Two items. What the log says of the judge's rankings does not hold for a reviewer it lacks.
    assert listing.tokens_out == (4, 4, 4)
    assert review.tokens_in == (2 * 91, 2 * 101, 2 * 112)
    assert review.tokens_out == (2 * 901, 2 * 1001, 2 * 1101)
    assert review.calls == (6, 6, 6)
    data = data_of(estimated)
    ends = ("low", "likely", "high")
    assert data["experience"]["reviews"] == {
        "m0": {
            "in": dict(zip(ends, (90, 100, 110), strict=True)),
            "out": dict(zip(ends, (900, 1000, 1100), strict=True)),
        }
    }
    assert [row["longest_prompt"] for row in data["protocols"]] == [1, 100]
    said = " ".join(assumptions(estimated))
    assert "of 50 calls in the log, by kind of question and by reviewer" in said
    assert "100 calls side by side, of all peers together" in said


def test_hidden_tokens_of_a_reviewer_that_the_log_lacks() -> None:
    of_gpt = {"openai/gpt-5": (Range(1, 1, 1), Range(1, 1, 1))}
    judges = panel("openai/gpt-5", "openai/o3")
    for learnt, who in ((None, "openai/gpt-5 and openai/o3 reason"), (of_gpt, "openai/o3 reasons")):
        experience = known(models=("openai/gpt-5",), reviews=learnt) if learnt else None
        estimated = found("peer_review", contests(1, 2), judges, experience=experience)
        [note] = [note for note in notes(estimated) if "hidden" in note]
        assert note.startswith(f"{who}: ")
    # A context that is too short.
    items = [contest({"a": "word " * 30_000, "b": "b"})]
    estimated = found("peer_review", items, panel("openai/gpt-4o", "openai/gpt-4.1"), LETTERS)
    [note] = [note for note in notes(estimated) if "longest prompt" in note]
    assert "openai/gpt-4o takes 128,000, so it would not see the longest" in note


@pytest.mark.parametrize(
    ("label", "models", "words"),
    cases(__file__, "panels"),
)
def test_panels_that_do_not_fit(label: str, models: Sequence[str], words: str) -> None:
    with pytest.raises(PrerequisiteError) as refused:
        found(label, contests(1, 4), panel(*models))
    assert words in str(refused.value.message)


def test_nobody_there() -> None:
    with pytest.raises(EstimateError, match="ListQuestion asks 'judge'; the roles here: none"):
        found("listwise", contests(1, 2), panel("m0"))
    with pytest.raises(ProtocolError, match="panel of reviewers"):
        found("peer_review", contests(1, 2), Judges("j"))
    with pytest.raises(EstimateError, match="Say which reviewer is which candidate"):
        read_matching('{"a: ')
    for degree in ("2.5", "x", "true", "'3'"):
        with pytest.raises(EstimateError, match="peer_review: degree cannot be"):
            read_protocols(f"peer_review:degree={degree}")


def test_who_is_asked_for_which_protocol() -> None:
    prices = ["1,2", "b=3,4"]

    def read(label: str, **given: Any) -> Judges:
        return read_judges(read_protocols(label), prices=prices, **given)

    peers = (PricedModel("a", Price(1, 2)), PricedModel("b", Price(3, 4)))
    assert read("peer_review", peers=" a, b,") == Judges(peers=peers)
    # A judge whom nobody asks is not in the estimate.
    assert read("peer_review,original", judge="p/j", peers="a,b") == Judges(peers=peers)
    both = Judges("p/j", Price(1, 2), "p/b", Price(1, 2), peers)
    assert read("all,peer_review", judge="p/j", meta_judge="p/b", peers="a,b") == both
    assert list(judges_and_prices(read_judges(read_protocols("original")))) == ["no model is asked"]


@pytest.mark.parametrize(
    ("label", "given", "words"),
    cases(__file__, "missing_or_too_much"),
)
def test_who_is_missing_or_too_much(label: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(EstimateError, match=words):
        read_judges(read_protocols(label), **given)


def test_settings() -> None:
    [variant] = read_protocols("peer_review:degree=null,method=borda")
    assert variant.settings == {"degree": None, "method": "borda"}
    labels = [[v.label for v in read_protocols(text)] for text in ("all", "all,peer_review")]
    assert labels[1] == [*labels[0], "peer_review"]

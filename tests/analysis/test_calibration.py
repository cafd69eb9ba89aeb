"""Judges against people: what is joined, the figures, and which judge is better."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.stars import Given, answered, starred
from tests.ranking_logs.builders import call, item, match, write_log
from tiebreak.analysis.calibration import Calibration, Concordance, calibrate
from tiebreak.analysis.errors import AnalysisError
from tiebreak.rankers.agreement import cohen_kappa
from tiebreak.ranking_logs import RankingLogError
from tiebreak.reason import Reason
from tiebreak.report.sheets.calibration import verdict_of
from tiebreak.scorers.ballots import ItemBallots
from tiebreak.tables.human import HumanLabel, HumanLabels


def human(
    labels: Iterable[tuple[str, str, int]], rater: str = "", round: str = ""
) -> list[HumanLabel]:
    return [
        HumanLabel(n, item_id, (model,), stars, rater=rater, round=round)
        for n, (item_id, model, stars) in enumerate(labels, start=2)
    ]


def seen(text: str) -> tuple[str, ...]:
    return (hashlib.sha256(text.encode()).hexdigest(),)


def cell_of(calibration: Calibration, judge: str, *about: str) -> Concordance:
    cell = calibration.cell(judge, *about)
    assert cell is not None
    return cell


def people(*labels: HumanLabel) -> HumanLabels:
    return HumanLabels("stars.csv", "stars", labels)


def found(
    folder: Path, judges: Mapping[str, Sequence[ItemBallots]], labels: HumanLabels
) -> Calibration:
    for number, items in enumerate(judges.values()):
        write_log(folder / f"{number}.eval", items, eval_id=f"E{number}", task_id=f"T{number}")
    return calibrate(folder, labels)


RNG = np.random.default_rng(7)
TRUTH = RNG.choice(4, size=(80, 2), p=[0.1, 0.1, 0.2, 0.6])
MODELS = ("org/a", "b")


def judging(accuracy: float, judge: str, seed: int) -> list[ItemBallots]:
    rng = np.random.default_rng(seed)
    stars = np.where(rng.random(TRUTH.shape) < accuracy, TRUTH, rng.choice(4, TRUTH.shape))
    items = []
    for k, row in enumerate(stars):
        given = dict(zip(MODELS, row.tolist(), strict=True))
        about = {"subject": ("law", "art")[k % 2], "cluster": f"c{k // 2}"}
        items.append(starred(f"q{k}", given, judge=judge, **about))
    return items


GOOD, POOR = judging(0.95, "j/good", 1), judging(0.5, "j/poor", 2)
SAID = human((f"q{k}", ("a", "b")[m], int(TRUTH[k, m])) for k in range(80) for m in range(2))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    return found(tmp_path_factory.mktemp("two"), {"poor": POOR, "good": GOOD}, people(*SAID))


def test_kappa_of_each_judge_model_and_subject(two: Calibration) -> None:
    assert two.judges == ("j/good", "j/poor")
    assert two.models == ("b", "org/a")
    for items, judge in ((GOOD, "j/good"), (POOR, "j/poor")):
        stars = np.array([[one.scores[m].stars for m in range(2)] for one in items])
        for model, column in (("", slice(None)), ("org/a", slice(0, 1)), ("b", slice(1, 2))):
            for subject, rows in (("", slice(None)), ("law", slice(0, None, 2))):
                cell = cell_of(two, judge, "", model, subject)
                x, y = TRUTH[rows, column].ravel(), stars[rows, column].ravel()
                for weights, figure in ((None, cell.kappa), ("quadratic", cell.quadratic)):
                    expected = cohen_kappa(x.tolist(), y.tolist(), weights=weights, labels=range(4))  # type: ignore[arg-type]
                    assert figure.value == pytest.approx(expected.value)
                    assert figure.lower < figure.value < figure.upper
                assert cell.agreement.value == pytest.approx(np.mean(x == y))
                assert cell.bias.value == pytest.approx(np.mean(y - x))
                assert cell.bias.lower <= cell.bias.value <= cell.bias.upper
                table = np.zeros((4, 4))
                np.add.at(table, (x, y), 1)
                assert cell.confusion == tuple(map(tuple, table.tolist()))
                # Siblings are one question.
                assert (cell.n, cell.n_items) == (len(x), 40)
    [gap] = two.gaps
    assert (gap.first, gap.second, gap.n, gap.apart) == ("j/good", "j/poor", 160, True)
    kappas = [cell_of(two, judge, "", m).kappa.value for judge in two.judges for m in two.models]
    assert gap.difference.value == pytest.approx(np.mean(kappas[:2]) - np.mean(kappas[2:]))
    assert two.mean("j/good").kappa.value == pytest.approx(np.mean(kappas[:2]))
    assert "ahead of j/poor (p < .001)" in verdict_of(two)


def test_several_raters(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    raters = []
    for name in ("ann", "ben", "eve"):
        own = np.where(rng.random(80) < 0.8, TRUTH[:, 1], rng.choice(4, 80))
        raters.append(human(((f"q{k}", "b", int(own[k])) for k in range(80)), rater=name))
    labels = [label for one in raters for label in one]
    one = found(tmp_path, {"good": GOOD}, people(*labels))
    cell, [ceiling], [beside] = cell_of(one, "j/good"), one.people, one.ceilings
    assert (cell.n, one.n_raters) == (80, 3)
    # κ with a person drawn at random: labels of all persons in one table, each for a third.
    stars = [ballots.scores[1].stars for ballots in GOOD]
    pooled = cohen_kappa([label.value for label in labels], stars * 3, labels=range(4))
    assert cell.kappa.value == pytest.approx(pooled.value)
    pairs = [
        (x.value, y.value) for p, q in permutations(raters, 2) for x, y in zip(p, q, strict=True)
    ]
    together = cohen_kappa(*zip(*pairs, strict=True), labels=range(4))
    assert ceiling.kappa.value == pytest.approx(together.value)
    assert beside.difference.value == pytest.approx(cell.kappa.value - ceiling.kappa.value)
    assert "eople agree" in verdict_of(one)


def test_a_jury_is_judge_by_judge(tmp_path: Path) -> None:
    """Identical answers share their stars; of the second judge a third of the replies is lost."""
    items = []
    for k in range(80):
        own: dict[str, Given] = {"j/x": {"b": int(TRUTH[k, 1])}, "j/y": {"b": 3 if k % 3 else None}}
        items.append(starred(f"q{k}", own, groups=[("b", "org/a")]))
    two = found(tmp_path, {"jury": items}, people(*SAID))
    assert two.judges == ("j/x", "j/y")
    assert cell_of(two, "j/x", "", "b").kappa.value == 1
    assert [cell_of(two, judge).n for judge in two.judges] == [160, 106]
    assert any("j/y gave no usable label to 54 of 160" in note for note in map(str, two.notes))


@pytest.mark.parametrize("judges", [("j/x",), ("j/x", "j/y")])
def test_stars_by_a_rule_are_of_every_judge(tmp_path: Path, judges: tuple[str, ...]) -> None:
    items = []
    for k in range(20):
        stars = {"b": int(TRUTH[k, 1])}
        if k % 2:
            items.append(starred(f"q{k}", stars).model_copy(update={"calls": ()}))
        elif len(judges) > 1:
            items.append(starred(f"q{k}", dict.fromkeys(judges, stars)))
        else:
            items.append(starred(f"q{k}", stars, judge="j/x"))
    made = found(tmp_path, {"j": items}, people(*(one for one in SAID if one.models == ("b",))))
    assert {judge: cell_of(made, judge).n for judge in made.judges} == dict.fromkeys(judges, 20)


def test_runs_of_one_judge_are_kept_apart(tmp_path: Path) -> None:
    again = judging(0.9, "j/good", 9)
    two = found(tmp_path, {"first": GOOD[:40], "rest": GOOD[40:], "again": again}, people(*SAID))
    numbers = {judge: cell_of(two, judge).n for judge in two.judges}
    assert numbers == {"j/good": 160, "j/good, run 2": 160}


def test_stars_of_another_answer_do_not_count(tmp_path: Path) -> None:
    ballots = [starred(f"q{k}", {"b": k % 4}) for k in range(12)]
    samples = [answered(one, {"b": f"answer {k} "}) for k, one in enumerate(ballots)]
    write_log(tmp_path / "1.eval", samples)
    texts = [f"answer {k}" + (" of another" if k < 3 else " " * (k % 2)) for k in range(12)]
    labels = [
        HumanLabel(k, f"q{k}", ("b",), k % 4, digests=(seen(text)[0][:12],))
        for k, text in enumerate(texts)
    ]
    one = calibrate(tmp_path, people(*labels))
    assert (one.n, one.mean("j/judge").kappa.value) == (9, 1)
    assert Reason("labels_left_out", n=3, why=Reason("labels_of_other_answers")) in one.notes


def test_epochs_are_told_by_their_answers(tmp_path: Path) -> None:
    samples = [
        answered(starred(f"q{k}", {"b": epoch}), {"b": f"{k} in {epoch}"}, epoch)
        for k in range(4)
        for epoch in (1, 2)
    ]
    write_log(tmp_path / "1.eval", samples)
    told = [
        HumanLabel(k, f"q{k}", ("b",), epoch, digests=seen(f"{k} in {epoch}"))
        for k in range(4)
        for epoch in [1 + k % 2]
    ]
    assert calibrate(tmp_path, people(*told)).mean("j/judge").kappa.value == 1
    with pytest.raises(AnalysisError, match="one of several epochs"):
        calibrate(tmp_path, people(*human([("q1", "b", 1)])))


def pairwise(results: Sequence[float | None]) -> list[ItemBallots]:
    """Matches of b against c with these margins; a is as b."""
    groups, calls = [("b", "a"), ("c",)], [call(model="j/judge")]
    items = []
    for k, margin in enumerate(results):
        played = [match("c", "b", None if margin is None else -margin)]
        items.append(item(f"q{k}", played, calls=calls, groups=groups, protocol="round_robin"))
    return items


def prefers(values: Sequence[int], first: str = "b", second: str = "c") -> HumanLabels:
    labels = [
        HumanLabel(k, f"q{k}", (first, second), value, digests=("", ""))
        for k, value in enumerate(values)
    ]
    return HumanLabels("pairs.csv", "preferences", tuple(labels))


RESULTS = [0.5, -0.5, 0.5, 0, -0.5, 0.5, 0.2, -0.1, 0, 0.5, 0.5, -0.3]
WANTED = [2, 0, 1, 1, 0, 2, 2, 2, 0, 2, 2, 0]


@pytest.mark.parametrize(("first", "second"), [("b", "c"), ("c", "b"), ("a", "c")])
def test_preferences(tmp_path: Path, first: str, second: str) -> None:
    values = WANTED if first != "c" else [2 - value for value in WANTED]
    one = found(tmp_path, {"j": pairwise(RESULTS)}, prefers(values, first, second))
    cell = cell_of(one, "j/judge")
    judged = [1 + int(np.sign(margin)) for margin in RESULTS]
    both = [*WANTED, *(2 - value for value in WANTED)], [*judged, *(2 - one for one in judged)]
    assert cell.kappa.value == pytest.approx(cohen_kappa(*both, labels=range(3)).value)
    assert (cell.n, cell.n_items, sum(map(sum, cell.confusion))) == (12, 12, 12)
    assert math.isnan(cell.bias.value)
    assert one.models == tuple(sorted((first, second)))
    assert cell.kappa == cell_of(one, "j/judge", "", first).kappa


def test_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match=r"no log has stars .they are of: seal"):
        found(tmp_path, {"j": pairwise(RESULTS)}, people(*SAID))
    with pytest.raises(AnalysisError, match="12 labels of answers or pairs that no judge"):
        calibrate(tmp_path, prefers(WANTED, "a", "b"))
    with pytest.raises(AnalysisError, match="no log has matches"):
        found(tmp_path / "stars", {"j": GOOD}, prefers(WANTED))
    with pytest.raises(AnalysisError, match=r"Nothing in stars\.csv was judged"):
        calibrate(tmp_path / "stars", people(*human([("q99", "b", 1)])))
    with pytest.raises(RankingLogError, match="does not exist"):
        calibrate(tmp_path / "nowhere", people(*SAID))
    with pytest.raises(AnalysisError, match=r"g\.csv holds preferences, and stars\.csv stars"):
        calibrate((), people(*SAID), judge=HumanLabels("g.csv", "preferences", ()))
    with pytest.raises(AnalysisError, match=r"Nothing in stars\.csv was judged in x\.csv"):
        calibrate((), people(*human([("q99", "b", 1)])), judge=as_file("x.csv", GOOD))


def test_an_item_of_two_benchmarks(tmp_path: Path) -> None:
    items = [
        starred(f"q{k % 9}", {"b": 3 - k % 4}, benchmark=("x", "y")[k // 9]) for k in range(18)
    ]
    with pytest.raises(AnalysisError, match="in x and y; add a column benchmark"):
        found(tmp_path, {"j": items}, people(*human([("q1", "b", 1)])))
    named = [HumanLabel(1, f"q{k}", ("b",), 3 - (k + 9) % 4, benchmark="y") for k in range(9)]
    assert calibrate(tmp_path, people(*named)).mean("j/judge").kappa.value == 1


def test_undefined_figures(tmp_path: Path) -> None:
    items = [starred(f"q{k}", {"b": 3}) for k in range(5)]
    one = found(tmp_path, {"j": items}, people(*human([(f"q{k}", "b", 3) for k in range(5)])))
    assert math.isnan(one.mean("j/judge").kappa.value)
    assert one.mean("j/judge").undefined == ("b",)
    assert verdict_of(one).startswith("No κ is defined")


def test_judges_without_a_common_answer_are_not_compared(tmp_path: Path) -> None:
    two = found(tmp_path, {"good": GOOD[:40], "poor": POOR[40:]}, people(*SAID))
    [gap] = two.gaps
    assert (gap.n, gap.apart, gap.difference.reason) == (0, None, Reason("no_answer_of_both"))
    assert math.isnan(gap.p_adjusted)
    assert two.ceilings == ()


def test_labels_with_and_without_a_digest_are_of_one_answer(tmp_path: Path) -> None:
    items = [answered(starred(f"q{k}", {"b": k % 4}), {"b": f"text {k}"}) for k in range(8)]
    write_log(tmp_path / "1.eval", items)
    labels = []
    for k in range(8):
        digests = seen(f"text {k}")
        labels.append(HumanLabel(0, f"q{k}", ("b",), k % 4, rater="ann", digests=digests))
        labels.append(HumanLabel(0, f"q{k}", ("b",), (k + 1) % 4, rater="ben"))
    one = calibrate(tmp_path, people(*labels))
    assert (one.n, one.n_items, one.n_raters) == (8, 8, 2)
    cell = cell_of(one, "j/judge")
    assert cell.agreement.value == 0.5
    assert cell.confusion == ((1, 0, 0, 1), (1, 1, 0, 0), (0, 1, 1, 0), (0, 0, 1, 1))
    assert one.cell("j/judge", "9") is None


def as_file(source: str, items: Sequence[ItemBallots], rater: str = "") -> HumanLabels:
    """The stars of these items as a file, whose models have short names."""
    given = ((ballots.item_id, points) for ballots in items for points in ballots.scores)
    labels = [
        HumanLabel(line, item_id, (points.candidate[-1:],), points.stars or 0, rater=rater)
        for line, (item_id, points) in enumerate(given, start=2)
    ]
    return HumanLabels(source, "stars", tuple(labels), (f"{source}: a note",))


def test_a_judge_s_file_is_as_its_log(two: Calibration, tmp_path: Path) -> None:
    write_log(tmp_path / "poor.eval", POOR, eval_id="E", task_id="T")
    mixed = calibrate(tmp_path, people(*SAID), judge=as_file("g.csv", GOOD, "j/good"))
    assert mixed.notes == ("g.csv: a note",)
    for part in ("cells", "means", "gaps", "judges", "models", "n_items"):
        assert repr(getattr(mixed, part)) == repr(getattr(two, part))


def test_preferences_of_a_file_without_raters() -> None:
    turned = prefers([2 - value for value in WANTED], "c", "b")
    one = calibrate((), prefers(WANTED), judge=replace(turned, source="a/gpt.csv"))
    assert one.judges == ("gpt",)
    assert one.mean("gpt").kappa.value == 1


def test_other_answers_in_a_file_are_told_by_their_digests() -> None:
    def label(k: int, digest: str) -> HumanLabel:
        return HumanLabel(k, f"q{k}", ("b",), k % 4, digests=(digest,))

    given = HumanLabels("g.csv", "stars", tuple(label(k, "ab" * 6) for k in range(8)))
    seen = people(*(label(k, "ab" * 4 if k < 6 else "cd" * 4) for k in range(8)))
    one = calibrate((), seen, judge=given)
    assert one.n == 6
    assert Reason("labels_left_out", n=2, why=Reason("labels_of_other_answers")) in one.notes


def test_benchmarks_of_a_file() -> None:
    named = [HumanLabel(1, f"q{k}", ("b",), k % 4, benchmark="x") for k in range(8)]
    given = HumanLabels("g.csv", "stars", tuple(human((f"q{k}", "b", k % 4) for k in range(8))))
    assert calibrate((), people(*named), judge=given).mean("g").kappa.value == 1
    twice = [*named, *(HumanLabel(1, f"q{k}", ("b",), 0, benchmark="y") for k in range(8))]
    with pytest.raises(AnalysisError, match=r"g\.csv, line 2: item 'q0' is in x and y"):
        calibrate((), people(*twice), judge=given)

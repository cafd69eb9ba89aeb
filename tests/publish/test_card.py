"""The card: hostile names stay text, a person's text stays, and what it says is in the tables."""

import json
from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.cases import cases
from tests.expected import check
from tests.publish.test_latest import row
from tiebreak.publish.card import BEGIN, END, card, split
from tiebreak.publish.errors import PublishError
from tiebreak.publish.tables import schema
from tiebreak.report.markdown import inline

HOSTILE = [*cases(__file__, "hostile"), END, f"{END}\n# After the end"]


def parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def make(rows: Iterable[Mapping[str, Any]], readme: str | None = None, **more: Any) -> str:
    usual: dict[str, Any] = {"license": None, "repo_id": "me/rankings"}
    files = more.pop("files", {"leaderboard/latest.parquet": b""})
    files |= {} if readme is None else {"README.md": readme.encode()}
    return card(rows, files, **usual | more)


def cells(text: str) -> list[list[str]]:
    """The first table of some Markdown, as a reader sees it, by a parser of another project."""
    tokens = parser().parse(text)
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and token.level >= 4 and rows:
            kinds = {child.type for child in token.children or ()}
            assert kinds <= {"text"}, kinds  # no link, no image, no HTML, no emphasis
            rows[-1].append("".join(child.content for child in token.children or ()))
        elif token.type == "table_close":
            break
    return rows


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_in_a_cell(name: str) -> None:
    text = make([row("r", "2026-01-01T00:00:00Z", model=name, benchmark=name, judge=name)])
    head, first = cells(text)
    assert len(first) == len(head) == 7
    assert first[1] == " ".join(name.split())
    assert text.count(BEGIN) == text.count(END) == 1
    html = parser().render(split(text)[1])
    for word in ("<script", 'javascript:alert(1)"', "<img", 'evil.example"', "<h1>After"):
        assert word not in html
    assert "{{" not in unescape(html) or "{{" in name


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(st.text(max_size=60))
def test_inline_shows_the_text(name: str) -> None:
    tokens = parser().parse(f"| x | {inline(name)} |\n| - | - |")
    [shown] = [t for t in tokens if t.type == "inline"][1:2]
    assert {child.type for child in shown.children or ()} <= {"text"}
    text = "".join(child.content for child in shown.children or ())
    if all(char.isprintable() or char.isspace() for char in name) and name.strip():
        assert text == " ".join(name.split())
    assert all(char.isprintable() for char in text)


@pytest.mark.parametrize(("name", "shown"), cases(__file__, "inline"))
def test_what_would_be_markup_is_not(name: str, shown: str) -> None:
    """Harmless names are themselves in the source; characters that steer are shown as such."""
    assert inline(name) == shown
    assert inline("x" * 500) == "x" * 119 + "…"


@pytest.mark.parametrize("text", [None, "{", "3", '{"a": 1}', '[1, {"role": 2}]', "[" * 10000])
def test_rows_of_others_are_not_trusted(text: str | None) -> None:
    assert "## Judges" in make([row("../..", "t", judge_settings=text, arguments=text)])


def test_the_licence_is_not_invented() -> None:
    assert "No licence has been chosen" in make([row("r", "t")])
    chosen = make([row("r", "t")], license="cc-by-4.0")
    assert "No licence has been chosen" not in chosen
    assert yaml.safe_load(split(chosen)[0])["license"] == "cc-by-4.0"
    assert "No licence has been chosen" not in make([row("r", "t")], readme=chosen)


people = st.lists(st.sampled_from(["# Ours", "text | text", "", "<b>x</b>", "---", "ü", " x "]))


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(people, people, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_persons_text_stays(
    before: list[str], after: list[str], newline: str, yamled: bool
) -> None:
    head = "---\nlicense: mit # ours\n---\n" if yamled else ""
    readme = newline.join([*head.split("\n")[:-1], *before, ""])
    if not yamled:  # what begins with dashes is YAML to the Hub as well
        readme = f"# Title{newline}{readme}"
    first = make([row("r", "t")], readme=readme)
    own = readme if not yamled else split(readme)[1]
    body = split(first)[1]
    assert body.startswith(own) or not own.strip()
    text = first + newline.join([*after, ""])
    second = make([row("r2", "t2", model="other")], readme=text)
    assert "other" in second
    assert split(second)[1].partition(BEGIN)[0] == body.partition(BEGIN)[0]
    assert second.partition(END)[2] == text.partition(END)[2]
    assert make([row("r2", "t2", model="other")], readme=second) == second
    if newline == "\r\n" and newline in readme:
        assert "\n" not in second.replace("\r\n", "")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_head_without_keys(newline: str) -> None:
    readme = newline.join(["---", "---", "# Ours", "", "---", "more", ""])
    head, body = split(make([row("r", "t")], readme=readme))
    assert "configs" in yaml.safe_load(head)
    assert body.startswith(newline.join(["# Ours", "", "---", "more", "", BEGIN]))


@pytest.mark.parametrize(
    "text", [BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{END}{END}"]
)
def test_broken_marks_are_refused(text: str) -> None:
    with pytest.raises(PublishError, match="once"):
        make([row("r", "t")], readme=f"# Ours\n{text}\n")


JUDGES = cases(__file__, "judges")
# One more than are shown.
MODELS = [f"m{number:02}" for number in range(1, 22)]


def seal(model: str, **more: Any) -> dict[str, Any]:
    place = int(model[1:])
    scores = {
        **{"value": (21 - place) / 20, "rank": place, "n": 40 - place},
        **{"lower": max(0.0, (20 - place) / 20), "upper": min(1.0, (22 - place) / 20)},
        **{"rank_lower": max(1, place - 1), "rank_upper": place},
        **{"unscored_rate": {1: 0.5, 2: 0.25}.get(place, None if place == 3 else 0.0)},
        **{"model": model, "judge_settings": json.dumps(JUDGES)},
    }
    return row("r1", "2026-03-04T05:06:07Z", **cases(__file__, "seal") | scores | more)


def reviewed(model: str, **more: Any) -> dict[str, Any]:
    usual = cases(__file__, "reviewed") | {"model": model}
    return row("r2", "2026-01-02T00:00:00Z", **usual | more)


def swiss(model: str, **more: Any) -> dict[str, Any]:
    usual = cases(__file__, "swiss") | {"model": model, "judge_settings": json.dumps(JUDGES[2:3])}
    return row("r3", "2026-02-02T00:00:00Z", **usual | more)


MEAN_POINTS: dict[str, Any] = {
    **{"benchmark": "arc2", "metric": "mean_points", "value": 0.25, "cost": 0.0},
    **{"arguments": '{"swap": "sample"}', "rubric": "mine"},
}
BOARDS = [
    # Another metric may come first: models are in the order of the main one.
    seal("m02", metric="native_score", value=None),
    seal("m01", metric="native_score", value=0.25),
    *map(seal, MODELS),
    reviewed("a", value=1.0, rank=1),
    reviewed("b"),
    reviewed("a", metric="mean_rank", value=1.125),
    reviewed("b", metric="mean_rank", value=None),
    *map(swiss, MODELS[:20]),
    swiss("m01", metric="bradley_terry_strength", value=2.0),
    # Without the main metric the first that there is stands for it.
    swiss("m01", **MEAN_POINTS),
]


def contest_row(name: str, model: str, table: str = "contest", **more: Any) -> dict[str, Any]:
    place = int(model[1:])
    score = {"contest_id": name, "model": model, "rank": place, "value": 2.5 - place / 10}
    return {**dict.fromkeys(schema("contests").names), **cases(__file__, table), **score, **more}


def over_items(model: str, **more: Any) -> dict[str, Any]:
    return contest_row("contest-1", model, "over_items", **more)


CONTESTS = [
    over_items("m1"),
    over_items("m2", lower=None, upper=None, slope=None, label=None),
    over_items("m1", eliminate=None, eliminate_by_round=[0, 1], value=1.0),
    over_items("m1", method="kemeny_young", rank=2),
    over_items("m2", method="borda", rank=1),
    *(contest_row("contest-2", model, benchmarks=["law"], rounds=[["law"]]) for model in MODELS),
    contest_row("contest-3", "m1", method="kemeny_young"),  # without the contest no entry
    *(
        contest_row("contest-4", model, order_from="order", eliminate_by_round=[0, 2])
        for model in MODELS[:20]
    ),
]


def test_a_card_with_all_that_it_can_say() -> None:
    files = {path: json.dumps(data).encode() for path, data in cases(__file__, "files").items()}
    for path, data in cases(__file__, "files").items():
        folder = path.removesuffix("plots.json")
        files |= {f"{folder}{plot['name']}.png": b"" for plot in data.get("plots", ())}
    files |= {"candidates/x.parquet": b"", "leaderboard/latest.parquet": b""}
    text = card(BOARDS, files, contests=CONTESTS, license="mit", repo_id="me/my-rankings")
    check(__file__, "card.txt", text)


def test_a_card_of_contests_alone() -> None:
    files = {"contests/latest.parquet": b""}
    text = card([], files, contests=CONTESTS[-20:-18], license="cc-by-4.0", repo_id="me/rankings")
    check(__file__, "contests_card.txt", text)


def test_a_card_of_one_board_about_which_little_is_known() -> None:
    little = {"arguments": "{}", "seed": None, "tiebreak_version": None}
    check(__file__, "board_card.txt", make([swiss("m01", cost=1.0, **little)]))

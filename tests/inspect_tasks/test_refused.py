"""Runs that cannot begin.

`test_refused.yaml` has what is given, `expected/refused.txt` also the messages.
"""

import json
from pathlib import Path

import pytest
from inspect_ai import eval
from rich.text import Text

from tests.candidates.builders import make_rows, write_inspect_log
from tests.cases import cases
from tests.expected import check
from tests.inspect_tasks.reviews import write_answers
from tests.inspect_tasks.runs import real_calls, write_pool
from tiebreak.inspect_tasks.arguments import checked
from tiebreak.prerequisite import PrerequisiteError
from tiebreak.scorers import protocols
from tiebreak.scorers.catalogue import PROTOCOLS


@pytest.mark.slow
def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: Path) -> None:
    monkeypatch.chdir(tmp_path)
    # Other tests register protocols of their own, which messages would list.
    ours = {name: one for name, one in protocols._registered.items() if name in PROTOCOLS}
    monkeypatch.setattr(protocols, "_registered", ours)
    write_answers(Path())
    write_pool(Path("mmlu"), 4, 2, task="mmlu")
    for native in (0.0, 1.0):
        write_inspect_log(Path(f"unequal/{native}.eval"), f"m{native}", make_rows(1, native=native))
    rows = [{"prompt": f"Write about {'x' * n}."} for n in range(6)]
    Path("prompts.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    texts = []
    for arguments in cases(__file__, "arguments"):
        with pytest.raises(PrerequisiteError) as caught:
            checked(arguments, settings=("rounds",))
        texts.append(f"{arguments}\n  {caught.value.message}\n")
    for task, roles, arguments in cases(__file__, "runs"):
        given = {"prompts": "prompts.jsonl"} if task == "arena" else {"candidates": "logs"}
        with pytest.raises(PrerequisiteError) as caught:
            eval(
                f"tiebreak/{task}",
                task_args=given | arguments,
                model_roles=roles,
                log_dir="out",
                log_level="warning",
            )
        message = str(caught.value.message)
        if task == "peer_review":
            # Inspect's console takes a [word] for a colour, and would not show it.
            assert Text.from_markup(message).plain == message
        texts.append(f"{task} {roles} {arguments}\n  {message}\n")
    check(__file__, "refused.txt", "".join(texts))
    assert not Path("out").exists()
    assert not real_calls(calls)

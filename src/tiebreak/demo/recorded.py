"""The demo without a model: logs that it once wrote, copied and shown as at the end of a run."""

import shutil
from pathlib import Path
from typing import Final

from inspect_ai.log import read_eval_log

from tiebreak.demo.screen import (
    DemoLogs,
    DemoProtocol,
    require_shown,
    run_folder,
    say,
    show_ranking,
    written_report,
)

RECORDED: Final = Path(__file__).parent / "recorded"
"""`candidates/SETTING/BENCHMARK.eval` and `ranking/PROTOCOL.eval`; `make recorded` makes them."""


def show_recorded(
    out: Path = Path("tiebreak-demo"), *, protocol: DemoProtocol = "round_robin"
) -> DemoLogs:
    """Copy the recorded logs of a run to a run folder in `out`, report, and print the last screen.

    Raises:
        PrerequisiteError: the demo does not show the protocol.
    """
    require_shown(protocol)
    logs = run_folder(out)
    shutil.copytree(RECORDED / "candidates", logs.candidates)
    logs.ranking.mkdir()
    ranking = shutil.copy(RECORDED / "ranking" / f"{protocol}.eval", logs.ranking)
    header = read_eval_log(str(ranking), header_only=True).eval
    roles = (header.model_roles or {}).values()
    [judge] = {one.model for role in roles for one in (role if isinstance(role, list) else [role])}
    version = (header.metadata or {})["tiebreak_version"]
    say(
        f"Nothing is asked now. These logs were recorded on {header.created[:10]}: answers and "
        f"verdicts of {judge}, by Tiebreak {version} with inspect_ai "
        f"{header.packages['inspect_ai']}. Their transcripts are left out.\n"
    )
    page = written_report(logs)
    show_ranking(protocol, judge, logs, page)
    return logs

"""Records the logs of `tiebreak demo --recorded` anew.

`make recorded` runs it, which takes a quarter of an hour on two cores. Answers and verdicts are
those of the embedded model. Paths of this machine are removed, and so are the transcripts, which
are nine tenths of the bytes. Then renew the expected output with `TIEBREAK_RENEW=1` in the tests.
"""

import shutil
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any, get_args

from inspect_ai.log import EvalLog, EvalSample, EvalSpec, read_eval_log, write_eval_log

from tiebreak.demo.run import ITEMS, run_demo
from tiebreak.demo.screen import RECORDED, DemoProtocol


def record() -> None:
    """Run the demo under every protocol in a folder of its own, and keep its logs."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        # The same relative path for all: so later runs get the answers of the first from the cache.
        runs = {
            protocol: run_demo(Path("tiebreak-demo"), protocol=protocol)
            for protocol in get_args(DemoProtocol)
        }
        shutil.rmtree(RECORDED, ignore_errors=True)
        for log in sorted(runs["round_robin"].candidates.rglob("*.eval")):
            keep(log, Path("candidates") / _setting(log) / f"{_benchmark(log.name)}.eval")
        for protocol, logs in runs.items():
            for log in sorted(logs.ranking.rglob("*.eval")):
                place = log.relative_to(logs.ranking)  # BENCHMARK/PROTOCOL/LOG.eval
                keep(log, Path("ranking") / f"{protocol}-{place.parts[0]}.eval")


def keep(source: Path, place: Path) -> None:
    """Write a log, made neutral, to `place`, a path relative to the recorded logs."""
    log = neutral(read_eval_log(str(source), resolve_attachments=True))
    (RECORDED / place).parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(log, str(RECORDED / place))


def neutral(log: EvalLog) -> EvalLog:
    """Return a log without paths and revision of this machine, and without transcripts."""
    # The metadata holds the settings of the candidates' logs as text, with the path of the items.
    spec = EvalSpec.model_validate_json(log.eval.model_dump_json().replace(f"{ITEMS}/", ""))
    changed = spec.model_copy(
        update={
            "task_args": _no_folders(spec.task_args),
            "task_args_passed": _no_folders(spec.task_args_passed),
            "dataset": spec.dataset.model_copy(
                update={"location": spec.dataset.location and Path(spec.dataset.location).name}
            ),
            "metadata": _sources(spec.metadata or {}),
            "revision": None,
        }
    )
    samples = [_plain(sample) for sample in log.samples or []]
    changes = {"eval": changed, "metadata": changed.metadata, "samples": samples}
    return log.model_copy(update=changes)


def _plain(sample: EvalSample) -> EvalSample:
    return sample.model_copy(update={"events": [], "attachments": {}, "timelines": None})


def _no_folders(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a task's arguments with only the file names of the logs of candidates."""
    logs = arguments.get("candidates")
    return arguments | ({"candidates": [Path(log).name for log in logs]} if logs else {})


def _sources(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata with the sources of candidates renamed to the recorded logs."""
    key = "candidate_sources"
    found = [
        f"candidates/{_setting(Path(source))}/{_benchmark(source)}.eval"
        for source in metadata.get(key, ())
    ]
    return metadata | ({key: found} if key in metadata else {})


def _benchmark(log: str) -> str:
    """The benchmark in the name that Inspect gives a log: DATE_BENCHMARK_ID.eval."""
    return log.rpartition("/")[2].split("_")[1]


def _setting(log: Path) -> str:
    """The setting in the name of a log's folder: MODEL_SETTING."""
    return log.parent.name.rpartition("_")[2]


if __name__ == "__main__":
    record()

"""Results of a real run of lm-eval, not of a summary written for the test."""

import json
from pathlib import Path

import pytest

from tests.harness import run_lm_eval
from tests.tables.builders import cells, write
from tiebreak.tables import TableError
from tiebreak.tables.results import read_results

YAML = """\
task: {name}
custom_dataset: !function tiny.load
test_split: test
output_type: generate_until
num_fewshot: 0
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: [], max_gen_toks: 16, temperature: 0.0, do_sample: false}}
filter_list: [{{name: whole, filter: [{{function: take_first}}]}}]
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: {up}}}
metadata: {{version: 1.0}}
"""
GROUP = """\
group: tiny
task: [tiny_up, tiny_down]
aggregate_metric_list: [{metric: exact_match, filter_list: whole}]
metadata: {version: 1.0}
"""
LOADER = """\
import datasets


def load(**_):
    rows = [{"question": f"{i}?", "answer": "lol" if i else "x"} for i in range(4)]
    return {"test": datasets.Dataset.from_list(rows)}
"""


@pytest.mark.slow
def test_a_real_run_of_lm_eval(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    write(tasks / "up.yaml", YAML.format(name="tiny_up", up="true"))
    write(tasks / "down.yaml", YAML.format(name="tiny_down", up="false"))
    write(tasks / "group.yaml", GROUP)
    write(tasks / "tiny.py", LOADER)
    run_lm_eval(
        *("--tasks", "tiny", "--include_path", str(tasks)),
        *("--model_args", "pretrained=org/m:1", "--output_path", str(tmp_path / "out")),
        cwd=tmp_path,
    )
    [path] = (tmp_path / "out").rglob("results_*.json")
    summary = json.loads(path.read_text())
    assert summary["results"]["tiny"]["exact_match,whole"] == 0.75
    # In the group one task is better when higher and one when lower: lm-eval cannot say.
    with pytest.raises(TableError, match=r"tiny: .*its tasks disagree"):
        read_results(tmp_path / "out")
    del summary["results"]["tiny"]
    path.write_text(json.dumps(summary))
    table = read_results(tmp_path / "out")
    assert cells(table) == {("org/m:1", "tiny_down"): -0.75, ("org/m:1", "tiny_up"): 0.75}

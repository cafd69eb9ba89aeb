"""The `tiebreak` command: one module per verb, each a few lines over the API."""

import click

import tiebreak
from tiebreak.cli.aggregate import aggregate
from tiebreak.cli.align import align
from tiebreak.cli.candidates import candidates
from tiebreak.cli.compare import compare
from tiebreak.cli.csd import csd
from tiebreak.cli.demo import demo
from tiebreak.cli.diagnose import diagnose
from tiebreak.cli.estimate import estimate
from tiebreak.cli.lm_eval import lm_eval_cache, lm_eval_tasks
from tiebreak.cli.peers import peers
from tiebreak.cli.publish import publish
from tiebreak.cli.rank import rank
from tiebreak.cli.report import report
from tiebreak.cli.score_code import score_code
from tiebreak.cli.serve_local import serve
from tiebreak.cli.simulate import simulate
from tiebreak.cli.stability import stability
from tiebreak.cli.write_back import write_back


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(tiebreak.__version__, prog_name="tiebreak")
def main() -> None:
    """Make saturated LLM benchmarks informative again.

    Look at what you have, judge it through Inspect, then read the ranking:

    \b
      tiebreak diagnose logs/
      tiebreak estimate logs/ --protocol seal,full_pairwise --judge openai/gpt-5
      inspect eval tiebreak/seal -T candidates=logs/ --model-role judge=openai/gpt-5
      tiebreak rank logs/
      tiebreak report logs/ -o report/

    Or see it done, with a small model on this machine: tiebreak demo
    """


for verb in (
    candidates,
    diagnose,
    estimate,
    rank,
    compare,
    stability,
    peers,
    align,
    report,
    publish,
    write_back,
    simulate,
    aggregate,
    csd,
    lm_eval_tasks,
    lm_eval_cache,
    score_code,
    demo,
    serve,
):
    main.add_command(verb)

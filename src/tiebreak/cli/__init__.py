"""The `tiebreak` command: one module per verb, each a few lines over the API."""

import click

import tiebreak
from tiebreak.cli import (
    aggregate,
    align,
    bank,
    calibrate,
    canary,
    candidates,
    compare,
    contamination,
    csd,
    demo,
    diagnose,
    estimate,
    lm_eval,
    peers,
    publish,
    rank,
    report,
    score_code,
    serve_local,
    simulate,
    stability,
    write_back,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(tiebreak.__version__, prog_name="tiebreak")
def main() -> None:
    """Make saturated LLM benchmarks informative again.

    Look at what you have, judge it through Inspect, then read the ranking:

    \b
      tiebreak diagnose logs/
      tiebreak estimate logs/ --judge openai/gpt-5
      inspect eval tiebreak/round_robin -T candidates=logs/ --model-role judge=openai/gpt-5
      tiebreak rank logs/
      tiebreak report logs/ -o report/

    Or see it done, with a small model on this machine: tiebreak demo
    """


for verb in (
    candidates.candidates,
    diagnose.diagnose,
    estimate.estimate,
    rank.rank,
    compare.compare,
    stability.stability,
    peers.peers,
    align.align,
    calibrate.calibrate,
    canary.canary,
    contamination.contamination,
    report.report,
    publish.publish,
    write_back.write_back,
    simulate.simulate,
    aggregate.aggregate,
    csd.csd,
    lm_eval.lm_eval_tasks,
    lm_eval.lm_eval_cache,
    score_code.score_code,
    bank.bank,
    demo.demo,
    serve_local.serve,
):
    main.add_command(verb)

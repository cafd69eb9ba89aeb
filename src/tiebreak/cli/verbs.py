"""The `tiebreak` command: one module per verb, each a few lines over the API."""

import click

import tiebreak
from tiebreak.cli import (
    aggregate,
    align,
    calibrate,
    canary,
    candidates,
    compare,
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
from tiebreak.cli._help import Stage, Stages
from tiebreak.fair.cli import bank, contamination


@click.group(
    cls=Stages,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog="Complete verbs, options and files in bash, zsh and fish: see the page Output of the "
    "documentation, or put this into ~/.bashrc:\n\n\b\n"
    '  eval "$(_TIEBREAK_COMPLETE=bash_source tiebreak)"',
)
@click.version_option(tiebreak.__version__, prog_name="tiebreak")
def main() -> None:
    """Make saturated LLM benchmarks informative again.

    Look at what you have, judge it through Inspect, then read the ranking:

    \b
      tiebreak diagnose logs/
      tiebreak estimate logs/ --judge openai/gpt-5
      inspect eval tiebreak/round_robin -T candidates=logs/ \\
        --model-role judge=openai/gpt-5
      tiebreak rank logs/
      tiebreak report logs/ -o report/

    Or see it done, with a small model on this machine: tiebreak demo
    """


main.add_stages(
    Stage(
        "Look at what you have",
        (candidates.candidates, diagnose.diagnose, estimate.estimate, simulate.simulate),
    ),
    Stage(
        "Judge",
        (
            demo.demo,
            lm_eval.lm_eval_tasks,
            lm_eval.lm_eval_cache,
            score_code.score_code,
            serve_local.serve,
            canary.canary,
        ),
        "Judging itself is Inspect's: inspect eval tiebreak/round_robin (or seal, swiss, listwise, "
        "peer_review, stars, …); so is answering: inspect eval tiebreak/gsm8k (or mmlu, humaneval, "
        "bfcl).",
    ),
    Stage(
        "Read the result",
        (
            rank.rank,
            compare.compare,
            stability.stability,
            peers.peers,
            align.align,
            calibrate.calibrate,
            contamination.contamination,
            report.report,
        ),
    ),
    Stage("Share it", (publish.publish, write_back.write_back)),
    Stage("Merge rankings and scores", (aggregate.aggregate, csd.csd)),
    Stage("Keep questions private", (bank.bank,)),
)

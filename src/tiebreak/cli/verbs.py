"""The `tiebreak` command and the list of its verbs by stage."""

import atexit
import gc

import click

import tiebreak
from tiebreak.cli._help import Stage, Stages
from tiebreak.cli.aggregate import aggregate
from tiebreak.cli.align import align
from tiebreak.cli.calibrate import calibrate
from tiebreak.cli.canary import canary
from tiebreak.cli.candidates import candidates
from tiebreak.cli.compare import compare
from tiebreak.cli.csd import csd
from tiebreak.cli.demo import demo
from tiebreak.cli.diagnose import diagnose
from tiebreak.cli.estimate import estimate
from tiebreak.cli.lm_eval import lm_eval_cache, lm_eval_tasks
from tiebreak.cli.pairs import pairs
from tiebreak.cli.peers import peers
from tiebreak.cli.publish import publish
from tiebreak.cli.rank import rank
from tiebreak.cli.report import report
from tiebreak.cli.rubric import rubric
from tiebreak.cli.run import run
from tiebreak.cli.score_code import score_code
from tiebreak.cli.serve_local import serve
from tiebreak.cli.simulate import simulate
from tiebreak.cli.stability import stability
from tiebreak.cli.vote import vote
from tiebreak.cli.write_back import write_back
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

    From a question to a board, in one command:

    \b
      tiebreak run gsm8k --models openai/gpt-5-mini,google/gemini-2.5-flash \\
        --judge openai/gpt-5 --price 1.25,10 --budget 20

    Or step by step: look at what you have, judge it through Inspect, then read the ranking:

    \b
      tiebreak diagnose logs/
      tiebreak estimate logs/ --judge openai/gpt-5
      inspect eval tiebreak/round_robin -T candidates=logs/ \\
        --model-role judge=openai/gpt-5
      tiebreak rank logs/
      tiebreak report logs/ -o report/

    Or see it done, with a small model on this machine: tiebreak demo
    """
    # Ballots are millions of objects without reference cycles: the collector that looks for cycles
    # would take a fifth of the time.
    gc.set_threshold(1_000_000, 20, 100)
    atexit.register(gc.freeze)  # so that no collection runs at exit either


main.add_stages(
    Stage("All in one", (run,)),
    Stage("Look at what you have", (candidates, diagnose, estimate, simulate)),
    Stage(
        "Judge",
        (demo, lm_eval_tasks, lm_eval_cache, rubric, score_code, serve, canary, vote),
        "Judging itself is Inspect's: inspect eval tiebreak/round_robin (or seal, swiss, listwise, "
        "peer_review, stars, …); so is answering: inspect eval tiebreak/gsm8k (or mmlu, humaneval, "
        "bfcl).",
    ),
    Stage(
        "Read the result",
        (rank, compare, stability, peers, align, calibrate, contamination.contamination),
    ),
    Stage("Share it", (report, publish, write_back, pairs)),
    Stage("Merge rankings and scores", (aggregate, csd)),
    Stage("Keep questions private", (bank.bank,)),
)

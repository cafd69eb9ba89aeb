"""The `tiebreak` command: one module per verb, each a few lines over the API."""

import click

import tiebreak
from tiebreak.cli.aggregate import aggregate
from tiebreak.cli.candidates import candidates
from tiebreak.cli.csd import csd
from tiebreak.cli.demo import demo
from tiebreak.cli.diagnose import diagnose
from tiebreak.cli.rank import rank
from tiebreak.cli.serve_local import serve


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(tiebreak.__version__, prog_name="tiebreak")
def main() -> None:
    """Make saturated LLM benchmarks informative again.

    Look at what you have, judge it through Inspect, then read the ranking:

    \b
      tiebreak candidates logs/
      inspect eval tiebreak/seal -T candidates=logs/ --model-role judge=openai/gpt-5
      tiebreak rank logs/

    Or see it done, with a small model on this machine: tiebreak demo
    """


for verb in (candidates, diagnose, rank, aggregate, csd, demo, serve):
    main.add_command(verb)

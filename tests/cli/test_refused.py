"""Options that do not go together, or have no sense: what the command says, and that it ends there.

`expected/refused.txt` has every command, LONG for a long name, with its message.
"""

import shlex

from tests import expected
from tests.cli.handed import tiebreak


def test_what_is_refused() -> None:
    messages = []
    for command in expected.commands(__file__, "refused.txt", "tiebreak "):
        done = tiebreak(*shlex.split(command.replace("LONG", 95 * "y")))
        assert (done.exit_code, done.stdout) == (2, ""), command
        messages.append(f"tiebreak {command}\n  {done.stderr.splitlines()[-1]}\n")
    expected.check(__file__, "refused.txt", "".join(messages))

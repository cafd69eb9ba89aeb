"""Options that do not go together, or have no sense: what the command says, and that it ends there.

`expected/refused.txt` has every command with its message.
"""

import shlex

from tests import expected
from tests.cli.handed import tiebreak

COMMANDS = """
aggregate a --weights law
aggregate a --weights law=
aggregate a --weights =2
aggregate a --weights a=1,a=2
aggregate a --weights a=1,,b=2
aggregate a --weights ''
align a --human h --items
align a --human h --items --format html
canary a --estimate
bank check --show 0
bank expand --to statements
bank expand --to fill_in --model m
bank expand --to statements --model m --approve
bank export
bank export s --questions --out q.csv
bank export s --status draft
bank export --questions
bank export s t --out one.parquet
bank release s --hold
bank release s --withdraw --hold
bank release s --withdraw --log x
bank review
bank review --in .
bank review --out a.csv --in b.csv
bank sample --out x.jsonl --anchors 0
bank sample --out x.jsonl --session a
bank sample --out x.jsonl --anchors 0.5 --session a --institution b
bank sample --out . --institution b
bank token --institution lab
bank token --user u --institution lab --expires 0d
bank token --user u --institution lab --expires 00h
bank token --user u --institution lab --expires 7
bank token --user u --institution lab --expires d
bank token --user u --institution lab --expires 1w
bank token --user u --institution lab --expires 123456d
bank token --user u --institution lab --expires -1d
bank token --user u --institution lab --expires 1.5h
candidates a --rename a
candidates a --rename =b
candidates a --rename a=
candidates a --name logs/a.eval
candidates a --name =m
candidates a --name a=
candidates a --name =
candidates a --name ==m
compare a --width 85mm
csd s --benchmark b
csd s --eliminate '0;1'
csd s --eliminate ''
csd s --eliminate 1,
csd s --rounds r --order a
csd s --tiers 2 --rounds r
csd s --tiers 2 --missing available
csd s --tiers 2 --order a --spoil b=c --missing worst
csd s --tiers 2 --stderr e
demo --recorded --judged 3
demo --recorded --judge m
demo --recorded --limit 1
demo --recorded --seed 1
estimate a --budget 1 --calls 2
estimate a --calls 2 --precision 0.1
estimate a --mode union --budget 1
estimate a --mode union --calls 2
estimate a --mode union --precision 0.1
lm-eval-cache ''
lm-eval-cache ' '
pairs a
pairs a --out p.jsonl --judge-agreement 0.5
peers a --items
peers a --items --format html
publish
publish a
publish a --to x
publish a --to a/b/c
publish a --to 'a/b c'
publish a --to x/.y
publish a --to x/y-
publish a --to x/LONG
publish a --dry-run --candidates c
publish a --to x/y --out z
publish a --dry-run --public
publish a --dry-run --pr
publish a --to x/y --public --pr
publish a --community-evals f
publish a --dry-run --order x --metric m
publish a --dry-run --rounds r --missing worst --performance-tiers 2 --rename a=b
publish --scores s --dry-run --with-candidates
publish --scores s --to x/y --community-evals f
rank a --pair x
rank a --pair x,
rank a --pair ,y
rank a --pair x,y,z
rank a --pair ,
rank a --pair x,y --closure
rank a --pair x,y --control length
rank a --pair x,y --place points
rank a --pair x,y --price 1,2
rank a --pair x,y --reference a
report
report a --order x
report a --rounds x.yaml --spoil a=b
report a --metric x
report --scores s --human h
report --scores s --price 1,2
report --scores s --reference r
report a --pictures svg,gif
report a --width 85
report a --width 2m
report a --width 1mm
report a --width 41in
stability a --subsample half
stability a --subsample 0
stability a --subsample 0.5,1.5
stability a --sizes 0
stability a --subsample 0.5 --elo
stability a --subsample 0.5 --sizes 5
stability a --subsample 0.5 --against s
stability a --subsample 0.5 --dates d
stability a --subsample 0.5 --causes c
stability a --reference m
stability a --reference m --elo
stability a --reference m --against s
stability a --people v --subsample 0.5
stability a --people v --elo
stability a --people v --seeds 5
stability a --people v --plot x.svg
stability a --plot x.svg
stability a --plot x.svg --sizes 5
stability a --plot x.svg --against s
stability a --plot x.svg --subsample 0.5
simulate --qualities 1,b
write-back a --into b --rename x
"""


def test_what_is_refused() -> None:
    messages = []
    for command in COMMANDS.strip().splitlines():
        done = tiebreak(*shlex.split(command.replace("LONG", 95 * "y")))
        assert (done.exit_code, done.stdout) == (2, ""), command
        messages.append(f"tiebreak {command}\n  {done.stderr.splitlines()[-1]}\n")
    expected.check(__file__, "refused.txt", "".join(messages))

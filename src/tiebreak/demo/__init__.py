"""What runs on this machine alone: the demo, the embedded model (`local`), planted models (`lab`).

The demo: settings of a small local model, judged and ranked without a key or a network.

Everything is real: Inspect logs of answers that a model gave, `inspect eval` over them, and the
ranking in its log. Only the judge is too small to judge, and the demo says so, with the numbers
that show it.
"""

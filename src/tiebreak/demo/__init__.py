"""Parts that run offline: the demo, the embedded model (`local`), planted models (`lab`).

The demo judges and ranks several settings of a small local model, without a key or a network.

All of it is real: Inspect logs of a model's answers, `inspect eval` over them, and the ranking in
its log. Only the judge is too small to judge; the demo says so and shows the numbers.
"""

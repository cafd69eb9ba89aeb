"""The embedded model: a small chat model on the llama.cpp runtime, with no key and no network.

`server` finds the model file and runs it in this process or serves it over HTTP; `provider` makes
it an ordinary Inspect model (`tiebreak-local/smollm2-135m`).
"""

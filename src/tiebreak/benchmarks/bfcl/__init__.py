"""BFCL: which functions to call, and with which arguments (Patil et al. 2025, PMLR 267).

Data: the package `bfcl-eval` (see `questions`). A row of the category simple:

    id            simple_python_0
    question      [[{"role": "user", "content": "Find the area of a triangle with a base of …"}]]
    function      [{"name": "calculate_triangle_area", "parameters": {"type": "dict", …}}]
    ground_truth  [{"calculate_triangle_area": {"base": [10], "height": [5], "unit": […]}}]

Only questions of one turn in Python's types: `questions.LEFT_OUT` says what is left out. A model
may make its calls through a harness's tool calling (`score_calls`) or write them down (`score`).
"""

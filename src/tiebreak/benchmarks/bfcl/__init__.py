"""BFCL: questions that are answered by function calls (Patil et al. 2025, PMLR 267).

Data: the package `bfcl-eval` (see `questions`). A row of the category simple:

    id            simple_python_0
    question      [[{"role": "user", "content": "Find the area of a triangle with a base of …"}]]
    function      [{"name": "calculate_triangle_area", "parameters": {"type": "dict", …}}]
    ground_truth  [{"calculate_triangle_area": {"base": [10], "height": [5], "unit": […]}}]

Only questions of one turn with Python's types are asked; for the others see `questions.LEFT_OUT`.
A model may call functions by the harness's tool calling (`score_calls`) or in its text (`score`).
"""

"""Write `ppi_answers.json`: what ppi-python says of two models' difference in `tables(seed)`.

It brings ten packages along, so it gets an environment of its own. From the repository's root:

    python3 -m venv /tmp/ppi
    /tmp/ppi/bin/pip install ppi-python==0.2.3
    PYTHONPATH=. /tmp/ppi/bin/python tests/rankers/make_ppi_answers.py

An answer is {"seed", "value", "error"}: PPI++ with its own λ (`ppi_mean_ci`), people's labels as
"Y", the judge on the same items as "Yhat", the judge on all others as "Yhat_unlabeled".
"""

import json
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95


def tables(seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """What people would say of all items, what a judge says, (items, 2), and what is labelled."""
    rng = np.random.default_rng(seed)
    n_items, n_labelled = int(rng.integers(300, 900)), int(rng.integers(60, 160))
    people = rng.random((n_items, 2)) + np.array([0.1, 0.0])
    noise = rng.uniform(0.1, 0.6)
    judge = (
        people + noise * rng.standard_normal((n_items, 2)) + np.array([0, rng.uniform(-0.2, 0.2)])
    )
    labelled = np.zeros(n_items, np.bool_)
    labelled[rng.permutation(n_items)[:n_labelled]] = True
    return people, judge, labelled


def main() -> None:
    """Ask the other package."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate  # type: ignore[import-not-found]

    answers = []
    for seed in range(20):
        people, judge, labelled = tables(seed)
        label, seen = (table[:, 0] - table[:, 1] for table in (people, judge))
        parts = label[labelled], seen[labelled], seen[~labelled]
        lower, upper = ppi_mean_ci(*parts, alpha=1 - LEVEL)
        error = np.ravel(upper - lower)[0] / 2 / NormalDist().inv_cdf((1 + LEVEL) / 2)
        value = float(np.ravel(ppi_mean_pointestimate(*parts))[0])
        answers.append({"seed": seed, "value": value, "error": float(error)})
    Path(__file__).with_name("ppi_answers.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()

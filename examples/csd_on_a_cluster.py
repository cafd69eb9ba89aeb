"""CSD spread over a Dask cluster: the same numbers as in one process, only sooner.

    pip install '.[rankings]' distributed
    python examples/csd_on_a_cluster.py

Here the cluster is two processes on this machine. For a real one, give its address to `Client`, or
name another joblib backend ("ray", "spark", "loky") in `parallel_config`: `csd` does not change.
"""

import joblib
import numpy as np
from distributed import Client

from tiebreak.rankers import csd

MODELS, ROUNDS = 29, 12


def main() -> None:
    """Compare one process with a cluster, contest for contest."""
    rng = np.random.default_rng(0)
    strength = np.linspace(0, 1, MODELS)[:, None]
    scores = strength + rng.normal(size=(MODELS, ROUNDS))
    alone = csd(scores, eliminate=2, iterations=50_000)
    with (
        Client(n_workers=2, threads_per_worker=1, dashboard_address=None),
        joblib.parallel_config("dask"),
    ):
        spread = csd(scores, eliminate=2, iterations=50_000, n_jobs=-1)
    same = np.array_equal(alone.expected_wins, spread.expected_wins)
    print(f"the cluster's numbers are {'the same, bit for bit' if same else 'OTHERS'}")
    for model in np.argsort(spread.rank, kind="stable")[:5]:
        wins, error = spread.expected_wins[model], spread.standard_error[model]
        print(f"#{spread.rank[model]:.0f}  model {model:2}  {wins:.3f} ± {error:.3f} wins")


if __name__ == "__main__":
    main()

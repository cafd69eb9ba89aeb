"""Ballots that are easy to read in a test."""

import math

import numpy as np
from numpy.typing import NDArray


def table(*rows: str) -> NDArray[np.float64]:
    """Ranks from digits, one ballot a row; "-" is not ranked."""
    return np.array([[math.nan if mark == "-" else float(mark) for mark in row] for row in rows])

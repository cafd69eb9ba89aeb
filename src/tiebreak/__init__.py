"""Tiebreak makes saturated LLM benchmarks informative again.

It reads the answers that models have already given (Inspect logs, lm-eval samples), has an LLM
judge compare them, and returns a ranking with its uncertainty and its bill.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]

"""Made-up questions and logs that several benchmarks share."""

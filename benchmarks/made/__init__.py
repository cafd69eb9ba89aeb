"""What several benchmarks are made of."""

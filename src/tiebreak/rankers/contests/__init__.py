"""Competitive Swiss-System Dynamics (CSD): expected wins in simulated contests of models.

Source: Liu et al., "LLM Swiss Round: Aggregating Multi-Benchmark Performance via Competitive
Swiss-System Dynamics". A contest (algorithm 1) has K rounds, each on some benchmarks. In a round,
active models with equal scores are paired at random; the better one on these benchmarks wins a
point, a fair coin decides ties, and in an odd group a random member has a bye worth 0. Then T_k
random models of the lowest group are eliminated, at most all of it (eq. 2). The mean score over
many contests (algorithm 2) is the expected win score E[S].

The script that the authors published (github.com/LJSthu/LLMSwissRound) differs from their paper;
this package follows the paper:

- The script eliminates the T lowest by a stable sort, so that the order of the columns decides
  between models of equal score. Here, and in the paper, the draw is random.
- It eliminates T models even if the lowest group is smaller, and thus models of better groups, in
  the end all of them. Here at most the lowest group is eliminated.
- It gives a tie to the second of the shuffled pair. That is the paper's fair coin, W = ½.
- It seeds its generator from the clock, so no result can be repeated, and has no standard errors.
"""

"""Tables 1, 4 and 9 of SEAL, as printed; numbers only.

Table 9's benchmark labels sit on the first of eight rows each (the blocks are those of table 8, in
which the label and the first rows of some pools have slipped). Every cell of table 9 is "rank
score"; scores are rounded to three decimals, and ranks break ties that the rounding hides.
"""

PROTOCOLS = ("Original", "Pointwise", "FixedRub", "Listwise", "FlatBrk", "FullPair", "SEAL")

TABLE_9 = {
    "HumanEval": """
    openai/gpt-5                     5 0.988  1 0.980  1 0.310  1 0.748  1 0.511  1 0.541  1 0.509
    openai/o4-mini-high              3 0.994  3 0.968  7 0.306  2 0.604  2 0.492  2 0.523  2 0.488
    google/gemini-3.1-pro            2 1.000  4 0.968  8 0.305  4 0.526  3 0.483  4 0.511  3 0.486
    x-ai/grok-4.20                   4 0.994  2 0.970  2 0.310  6 0.437  4 0.482  3 0.512  4 0.483
    anthropic/claude-sonnet-4.6      1 1.000  6 0.956  6 0.308  3 0.550  5 0.456  6 0.488  5 0.463
    deepseek/deepseek-v3.2           6 0.981  5 0.959  5 0.309  7 0.342  6 0.451  5 0.493  6 0.457
    anthropic/claude-opus-4.7        7 0.963  8 0.931  4 0.309  5 0.492  8 0.432  7 0.469  7 0.440
    qwen/qwen3-coder-plus            8 0.963  7 0.932  3 0.309  8 0.301  7 0.437  8 0.461  8 0.435
""",
    "BFCL-v2": """
    qwen/qwen3-coder                 3 0.857  1 0.835  1 0.892  2 0.664  1 0.496  1 0.558  1 0.532
    google/gemini-2.5-flash          4 0.823  2 0.810  2 0.882  1 0.772  4 0.463  2 0.549  2 0.524
    z-ai/glm-5-turbo                 1 0.867  3 0.783  4 0.838  3 0.539  2 0.490  3 0.540  3 0.464
    google/gemini-3.1-pro            2 0.860  4 0.782  3 0.863  4 0.485  3 0.472  4 0.530  4 0.458
    moonshotai/kimi-k2.6             5 0.817  5 0.771  5 0.825  5 0.469  5 0.460  5 0.514  5 0.421
    openai/o4-mini-high              7 0.668  6 0.690  7 0.731  6 0.418  7 0.389  7 0.433  6 0.368
    deepseek/deepseek-v3.2           8 0.653  8 0.676  8 0.729  7 0.365  8 0.383  6 0.438  7 0.364
    openai/gpt-5                     6 0.716  7 0.685  6 0.740  8 0.287  6 0.389  8 0.424  8 0.354
""",
    "GSM8K": """
    anthropic/claude-sonnet-4        6 0.965  4 0.928  4 0.992  2 0.668  4 0.499  1 0.549  1 0.503
    google/gemini-2.5-pro            5 0.967  3 0.933  3 0.992  4 0.489  3 0.499  3 0.542  2 0.495
    openai/o4-mini-high              4 0.970  7 0.918  6 0.991  3 0.633  1 0.501  6 0.505  3 0.488
    deepseek/deepseek-r1-0528        8 0.960  1 0.940  5 0.991  1 0.734  2 0.500  2 0.542  4 0.482
    google/gemini-3-flash-preview    1 0.978  2 0.936  2 0.995  5 0.465  5 0.489  4 0.537  5 0.478
    qwen/qwen3-30b-a3b-thinking-2507 7 0.963  5 0.921  7 0.989  6 0.442  6 0.478  5 0.519  6 0.467
    openai/gpt-5                     2 0.973  6 0.918  1 0.995  7 0.361  7 0.415  7 0.465  7 0.404
    qwen/qwen3-235b-a22b             3 0.973  8 0.807  8 0.834  8 0.208  8 0.286  8 0.331  8 0.314
""",
    "MMLU": """
    openai/gpt-5-mini                2 0.940  1 0.973  2 0.994  1 0.911  1 0.549  1 0.637  1 0.549
    google/gemini-3.1-pro            1 0.945  2 0.961  1 0.999  4 0.526  3 0.478  2 0.584  2 0.489
    qwen/qwen3.6-plus                3 0.940  5 0.933  3 0.991  6 0.331  4 0.461  3 0.582  3 0.488
    openai/gpt-5.4-nano              6 0.915  3 0.948  4 0.980  2 0.699  2 0.488  4 0.551  4 0.486
    x-ai/grok-4.3                    4 0.940  4 0.939  5 0.974  3 0.649  5 0.440  5 0.545  5 0.421
    deepseek/deepseek-chat           7 0.835  7 0.834  6 0.927  5 0.356  6 0.397  6 0.451  6 0.395
    anthropic/claude-3.5-haiku       8 0.710  8 0.726  8 0.847  8 0.211  7 0.309  7 0.332  7 0.282
    minimax/minimax-m2.7             5 0.930  6 0.888  7 0.897  7 0.317  8 0.297  8 0.305  8 0.251
""",
}

# Per protocol the agreement (Spearman's rho) with FullPair, and the resolution gain.
TABLE_1_BENCHMARKS = ("HumanEval", "GSM8K", "MMLU", "BFCL-v2")
TABLE_1 = """
    Original    0.43 -0.57  0.79  0.71    1.00  1.00  1.00  1.00
    Pointwise   0.95  0.81  0.86  0.93    1.18  5.29  1.13  0.70
    FixedRub    0.10  0.26  0.95  0.88    0.12  5.72  0.77  0.79
    Listwise    0.69  0.81  0.71  0.95    9.84 28.64  3.52  1.83
    FlatBrk     0.93  0.57  0.93  0.83    1.77  9.87  1.30  0.54
    SEAL        0.95  0.83  1.00  0.98    2.10 10.50  1.30  0.80
    FullPair    1.00  1.00  1.00  1.00    1.88 30.07  1.77  0.64
"""

# Whether the protocol has the same first model as FullPair, and the total.
TABLE_4_BENCHMARKS = ("HumanEval", "BFCL-v2", "GSM8K", "MMLU")
TABLE_4 = """
    Original    - - - -  0
    Pointwise   x x - x  3
    FixedRub    x x - -  2
    Listwise    x - - x  2
    FlatBrk     x x - x  3
    SEAL        x x x x  4
"""

"""How a question is put to a model: as it stands, after examples, or with a request for steps.

Source: LLMEval-Fair, appendix B. `FEW_SHOT` and `STEP_BY_STEP` are the templates of figures 9 and
10, word by word, so that its evaluation can be repeated; zero-shot is the question as the bank has
it (figure 8), which says itself what to answer.
"""

from collections.abc import Sequence
from typing import Final, Literal, get_args

Prompting = Literal["zero_shot", "few_shot", "step_by_step"]
PROMPTINGS: Final[tuple[Prompting, ...]] = get_args(Prompting)

BENCHMARKS: Final[dict[Prompting, str]] = {
    "zero_shot": "fair",
    "few_shot": "fair_few_shot",
    "step_by_step": "fair_step_by_step",
}
"""The benchmark that answers to each way of asking belong to."""

FEW_SHOT: Final = """\
Here are several examples:

Question:

Please determine the correctness of the following statement. Answer with true/false and provide a \
reason. If all elements below the diagonal in the adjacency matrix of a directed graph are zero, \
then the graph must have a topological ordering.

Answer:

true. Because if all elements below the diagonal in the adjacency matrix of a directed graph are \
zero, the graph is a Directed Acyclic Graph (DAG), so it must have a topological ordering.

Question:

Please explain the following term: "Double Hundred Policy".

Answer:

It refers to "let a hundred flowers bloom, let a hundred schools of thought contend." This was a \
policy on science and culture officially proposed by Mao Zedong in 1956 and confirmed by the \
Central Committee of the Communist Party of China. The policy was severely undermined after 1957, \
but was reestablished and implemented following the Third Plenary Session of the 11th Central \
Committee.

Question:

Please determine the correctness of the following statement. Answer with true/false and provide a \
reason. According to the convertibility theory, the scope of commercial banks' assets expanded \
from short-term turnover loans to consumer loans.

Answer:

false. Convertibility Theory: also known as the asset conversion theory. This theory suggests that \
to maintain liquidity for withdrawals, commercial banks can invest part of their funds in \
transferable securities. Since these profitable assets can be sold at any time and converted into \
cash, loans are not necessarily limited to short-term and self-liquidating types. Clearly, this \
theory emerged in the context of developing financial instruments and markets. Significance: it \
expanded the scope of bank asset operations. Drawbacks: it does not guarantee that assets can be \
liquidated without capital loss (which requires high asset quality and stable market conditions); \
it is also constrained by central bank monetary policy (e.g., the risk of a rise in discount \
rates). This theory provides a theoretical basis for Chinese commercial banks to engage in \
securities business (investment operations). However, in China, commercial banks' investment \
activities are restricted due to: 1. limited investment instruments and underdeveloped credit \
mechanisms; 2. management systems narrowing investment scopes, and separation of operations \
preventing commercial banks from investing in stocks; 3. the nature of state-owned commercial \
banks limits their willingness for autonomous investment.

Question:

Why can the results of animal experiments not be fully applied to clinical practice?

Answer:

Because there are differences between humans and animals not only in cellular morphology and \
metabolism, but also due to the highly developed human nervous system, which is associated with \
language and thought (the second signaling system). Although there are similarities, the essential \
differences mean that human diseases cannot all be replicated in animals. Even if they can be \
replicated, animal responses are simpler than human responses. Therefore, results from animal \
experiments cannot be mechanically and fully applied to clinical practice without analysis. Only \
by comparing, analyzing, and synthesizing animal experiment results with clinical data can they be \
used as references in clinical medicine and provide a basis for studying the causes, mechanisms, \
prevention, and treatment of clinical diseases.

The following is the question to be answered:

Question:{question}

Answer:"""

STEP_BY_STEP: Final = """\
{question}

Please think step by step and provide the final answer."""

_TEMPLATES: Final[dict[Prompting, str]] = {
    "zero_shot": "{question}",
    "few_shot": FEW_SHOT,
    "step_by_step": STEP_BY_STEP,
}


def prompt(question: str, options: Sequence[str], prompting: Prompting) -> str:
    """What a model is asked: the question with its options by letter, A for the first."""
    listed = [f"{chr(ord('A') + n)}. {text}" for n, text in enumerate(options)]
    return _TEMPLATES[prompting].replace("{question}", "\n".join([question, *listed]))

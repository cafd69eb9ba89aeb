"""What machine code would try from the candidate's process, out of `escapes.yaml`."""

from tests.cases import cases

ATTACKER: str = cases(__file__, "attacker")
ANYWHERE: dict[str, str] = cases(__file__, "anywhere")
IN_A_BOX: dict[str, str] = cases(__file__, "in a box")
FORGER = ATTACKER.partition("def main")[0] + cases(__file__, "forger")

"""The command line: a module per verb, each a few lines over the API; `verbs` lists them."""


def main() -> None:
    """Run the command `tiebreak`."""
    from tiebreak.cli import verbs

    verbs.main()

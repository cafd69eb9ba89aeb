"""The verb `rubric`: let a model propose a rubric for your prompts."""

import click

from tiebreak.cli._options import File, Model, option, verb


@verb()
def rubric(
    description: str,
    *,
    source: File = option("Your prompts, as tiebreak/prompts reads them.", "--prompts"),
    judge: Model = option("The model of Inspect's to ask."),
    most: int = option("Prompts to show.", "--sample", default=20, type=click.IntRange(1, 200)),
    seed: int = option("Draws the prompts that are shown.", default=0),
) -> None:
    """Have a model propose a rubric for your own prompts.

    DESCRIPTION says in your own words what a good answer is. The model reads it with some of the
    prompts, and writes principles with weights and a checklist. They are checked like every rubric,
    and printed as YAML whose first lines say which model wrote it. Correct it, and judge with
    -T rubric=FILE.

    \b
    Examples:
      tiebreak rubric "short, friendly, names the next step" \\
        --prompts prompts.jsonl --judge openai/gpt-5 > rubric.yaml
    """
    from tiebreak.candidates import read_prompts
    from tiebreak.scorers.proposal import propose_rubric

    if not description.strip():
        raise click.UsageError("DESCRIPTION is empty: say what a good answer is")
    texts = [prompt.text for prompt in read_prompts(source)]
    click.echo(propose_rubric(description, texts, judge, most=most, seed=seed), nl=False)

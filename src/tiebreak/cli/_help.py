"""The layout of help texts: commands by stage, and no line break inside "[default: …"."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import click

_GLUE = "\xa0"  # a no-break space, at which click does not wrap lines
_DEFAULT = re.compile(r"(?<=\[default:) (?=\S)|(?<=Default:) (?=\S)")


class _Formatter(click.HelpFormatter):
    """Keeps "[default:" on one line with the word that follows it."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        glued = [(term, _DEFAULT.sub(_GLUE, text)) for term, text in rows]
        super().write_dl(glued, col_max, col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(_GLUE, " ")


class _Context(click.Context):
    formatter_class = _Formatter


class Stage(NamedTuple):
    """Commands for one step of the work, under a heading and an optional sentence (`lead`)."""

    heading: str
    commands: tuple[click.Command, ...]
    lead: str = ""


class Stages(click.Group):
    """A group of commands whose help lists them by stage, in the order of the work."""

    context_class = _Context
    stages: tuple[Stage, ...] = ()

    def add_stages(self, *stages: Stage) -> None:
        """Add the commands of these stages, and list them by stage in the help."""
        self.stages += stages
        for stage in stages:
            for command in stage.commands:
                self.add_command(command)
                command.context_class = _Context

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each stage, with columns of the same width in all."""
        widest = max(len(name) for name in self.commands)
        room = formatter.width - widest - 4
        for stage in self.stages:
            with formatter.section(stage.heading):
                if stage.lead:
                    formatter.write_text(stage.lead)
                    formatter.write_paragraph()
                formatter.write_dl(
                    [
                        (f"{command.name:{widest}}", command.get_short_help_str(room))
                        for command in stage.commands
                    ]
                )

"""Load the work of a command when the command is called, so that `fencepost --help` and completion stay quick.

A command has two parts. Its declaration in `commands/` has the parameters and the help, and imports little. Its work is
the function of the same name in the module of the same name: `replay` in `cli/replay.py`. It takes the same parameters
and returns the exit code, or None for 0. The commands of a group, such as `results`, are functions of one module.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import typer
from typer.core import TyperCommand

PACKAGE = "fencepost.harness.cli"
Declaration = Callable[..., None]


KEEP_INDENT = "\n[bold][/bold]"
"""A last line without indent and without text: Typer takes the indent of examples away where all lines have it."""


class HelpfulCommand(TyperCommand):
    """A command whose help shows no types of Python."""

    def get_params(self, ctx: Any) -> Any:
        return without_types(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the names of the usage line: `RUN` for a required argument, which Typer writes as `{RUN}`."""
        return [re.sub(r"^{(.*)}", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]


def without_types(parameters: Any) -> Any:
    """Take the types of Python (`<bool>`, `<list[Path]>`) out of the help of flags and arguments; return them."""
    for parameter in parameters:
        if parameter.param_type_name == "argument" or getattr(parameter, "is_flag", False):
            parameter.display_type_rich = lambda ctx: None
    return parameters


def add_group(app: typer.Typer, panel: str, name: str, about: str, commands: Mapping[str, Declaration]) -> None:
    """Add a group of commands, by their names, to a panel of the help. Their work is in the module `name`."""
    group = typer.Typer(help=about, no_args_is_help=True, rich_markup_mode="rich")
    for command, declaration in commands.items():
        text = flow(declaration.__doc__ or "") + KEEP_INDENT
        group.command(command, cls=HelpfulCommand, help=text)(_command(declaration, name))
    app.add_typer(group, name=name, rich_help_panel=panel)


def add_commands(app: typer.Typer, panel: str, *declarations: Declaration) -> None:
    """Add the commands to a panel of the help. A fault's own options reach `inject` as they come."""
    for declaration in declarations:
        own_options = declaration.__name__ == "inject"
        app.command(
            cls=HelpfulCommand,
            help=flow(declaration.__doc__ or "") + KEEP_INDENT,
            rich_help_panel=panel,
            add_help_option=not own_options,  # `inject slow --help` is about the fault
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True} if own_options else None,
        )(_command(declaration))


def load(name: str, module: str | None = None) -> Callable[..., int | None]:
    """Return the function that does the work of the command `name`; its module has that name, or is `module`."""
    work: Callable[..., int | None] = getattr(importlib.import_module(f"{PACKAGE}.{module or name}"), name)
    return work


def flow(text: str) -> str:
    """Join the lines of each paragraph, which Rich would keep apart. Examples, which are indented, stay as they are."""
    joined: list[str] = []
    for line in inspect.cleandoc(text).splitlines():
        opens = not joined or not joined[-1] or not line or line[0] in " [" or joined[-1][0] in " ["
        if opens:
            joined.append(line)
        else:
            joined[-1] += f" {line}"
    return "\n".join(joined)


def _command(declaration: Declaration, module: str | None = None) -> Callable[..., None]:
    @functools.wraps(declaration)
    def command(*args: Any, **arguments: Any) -> None:
        raise typer.Exit(load(declaration.__name__, module)(*args, **arguments) or 0)

    return command

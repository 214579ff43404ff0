"""The commands for Typer: options, help and work.

A command is one class in `commands/`: its docstring is the help, its fields are the arguments and options. What its
work needs is imported when the command is called, so that `fencepost --help` and completion stay quick.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, get_type_hints

import typer
from typer.core import TyperCommand

KEEP_INDENT = "\n[bold][/bold]"
"""A last line without indent and without text: Typer takes the indent of examples away where all lines have it."""


class CommandOptions(ABC):
    """The arguments and options of one command, as a frozen dataclass: `ReplayOptions` are those of `replay`.

    Typer shows the fields that the class itself declares, in their order.
    """

    takes_any_option: ClassVar[bool] = False
    """Options that the class does not declare, `--help` among them, are left to `perform`, in the context."""

    @abstractmethod
    def perform(self) -> int | None:
        """Import the work of the command and do it; return the exit code, or None for 0."""


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


def add_group(app: typer.Typer, panel: str, name: str, about: str, *commands: type[CommandOptions]) -> None:
    """Add a group of commands to a panel of the help."""
    group = typer.Typer(help=about, no_args_is_help=True, rich_markup_mode="rich")
    add_commands(group, None, *commands)
    app.add_typer(group, name=name, rich_help_panel=panel)


def add_commands(app: typer.Typer, panel: str | None, *commands: type[CommandOptions]) -> None:
    """Add the commands to a panel of the help."""
    for options in commands:
        takes_any = options.takes_any_option
        app.command(
            name_of(options),
            cls=HelpfulCommand,
            help=flow(options.__doc__ or "") + KEEP_INDENT,
            rich_help_panel=panel,
            add_help_option=not takes_any,
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True} if takes_any else None,
        )(_callback(options))


def name_of(options: type[CommandOptions]) -> str:
    """Return the name by which a user calls the command."""
    return options.__name__.removesuffix("Options").lower()


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


def _callback(options: type[CommandOptions]) -> Callable[..., None]:
    def command(**values: Any) -> None:
        raise typer.Exit(options(**values).perform() or 0)

    command.__signature__ = inspect.Signature(list(_parameters(options)))  # type: ignore[attr-defined]
    return command


def _parameters(options: type[CommandOptions]) -> Iterator[inspect.Parameter]:
    types = get_type_hints(options, include_extras=True)
    for name in options.__annotations__:
        default = getattr(options, name, inspect.Parameter.empty)
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types[name])

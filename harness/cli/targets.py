"""A target on the command line: as the argument, or after --target."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.cli import completion
from harness.errors import UsageError

DEFAULT = "quorum"
_NAMES = "zk-controller, leader-driven, apache-kafka, apache-kafka-zk; with a version: apache-kafka:3.9.1."

Target = Annotated[str, typer.Option(help=f"{DEFAULT}, {_NAMES}", autocompletion=completion.targets)]
"""Where the argument is something else."""

TargetArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TARGET",
        help=f"{DEFAULT} (unless another is named), {_NAMES}",
        show_default=False,
        autocompletion=completion.targets,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", metavar="TARGET", help="The same, as elsewhere.", autocompletion=completion.targets),
]


def named(argument: str | None, option: str | None) -> str:
    """The target that was asked for. UsageError if that is two."""
    if argument and option and argument != option:
        raise UsageError(f"two targets are named, {argument} and --target {option}: name one")
    return argument or option or DEFAULT

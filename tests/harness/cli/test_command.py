"""Each command is a class of its options, which is quick to import, and imports its work when it is called."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from fencepost.harness.cli.command import CommandOptions, add_commands, flow
from fencepost.harness.cli.commands import interactive, machine, runs, scenarios, store
from fencepost.harness.cli.commands.scenarios import ConformanceOptions
from fencepost.harness.conformance.options import SessionOptions

COMMANDS = [
    options
    for panel in (scenarios, runs, interactive, machine, store)
    for options in vars(panel).values()
    if isinstance(options, type) and issubclass(options, CommandOptions) and options is not CommandOptions
]


@dataclass(frozen=True)
class GreetOptions(CommandOptions):
    """Greet."""

    name: Annotated[str, typer.Argument()]
    times: int = 1

    def perform(self) -> int:
        print(f"hello {self.name} " * self.times)
        return 3


def test_a_command_gets_its_options_by_type_and_its_result_is_the_exit_code() -> None:
    app = typer.Typer()
    add_commands(app, None, GreetOptions)
    done = CliRunner().invoke(app, ["you", "--times", "2"])
    assert (done.exit_code, done.output) == (3, "hello you hello you \n")


@pytest.mark.parametrize("options", COMMANDS, ids=lambda options: options.__name__)
def test_a_command_shows_each_of_its_options(options: type[CommandOptions]) -> None:
    """An option of a base class would be set, and shown by no help."""
    assert [each.name for each in fields(options)] == list(options.__annotations__)  # type: ignore[arg-type]


def test_the_command_hands_every_option_of_the_session_to_the_tests_as_the_type_that_they_have() -> None:
    values = {each.name: f"a {each.name}" for each in fields(SessionOptions)}
    handed = ConformanceOptions(**values).session  # type: ignore[arg-type]
    assert {name: getattr(handed, name) for name in values} == values
    session, command = get_type_hints(SessionOptions), get_type_hints(ConformanceOptions)
    assert {name: command[name] for name in values if name != "target"} == {
        name: session[name] for name in values if name != "target"
    }
    defaults = ConformanceOptions().session
    assert defaults == SessionOptions()


def test_help_flows_in_paragraphs_and_examples_keep_their_lines() -> None:
    text = """One line.

    A paragraph that goes
    over two lines.

    [bold]Examples[/bold]
      fencepost one
      fencepost two
    """
    assert flow(text).split("\n\n") == [
        "One line.",
        "A paragraph that goes over two lines.",
        "[bold]Examples[/bold]\n  fencepost one\n  fencepost two",
    ]

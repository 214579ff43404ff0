"""Each command has a declaration, which is quick to import, and its work in the module of its name."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

from fencepost.harness.cli.commands import interactive, machine, runs, scenarios
from fencepost.harness.cli.lazy import Declaration, flow, load

DECLARATIONS = [
    declaration
    for panel in (scenarios, runs, interactive, machine)
    for name, declaration in vars(panel).items()
    if inspect.isfunction(declaration) and declaration.__module__ == panel.__name__
]


@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda declaration: declaration.__name__)
def test_the_work_of_a_command_takes_what_its_declaration_says(declaration: Declaration) -> None:
    declared = inspect.get_annotations(declaration, eval_str=True)
    declared = {name: getattr(given, "__origin__", given) for name, given in declared.items()}
    worked = inspect.get_annotations(load(declaration.__name__), eval_str=True)
    assert list(inspect.signature(declaration).parameters) == [name for name in worked if name != "return"]
    assert {name: given for name, given in worked.items() if name != "return"} == {
        name: given for name, given in declared.items() if name != "return"
    }


def test_every_module_of_a_command_is_found_by_its_name() -> None:
    modules: list[ModuleType | None] = [inspect.getmodule(load(each.__name__)) for each in DECLARATIONS]
    assert [module and module.__name__.rpartition(".")[2] for module in modules] == [
        each.__name__ for each in DECLARATIONS
    ]


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

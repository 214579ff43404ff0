"""Options and arguments that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from fencepost.harness.cli import completion
from fencepost.harness.conformance.options import declared
from fencepost.harness.errors import UsageError
from fencepost.harness.targets.consent import FLAG

DEFAULT_TARGET = "quorum"
_TARGETS = (
    "zk-controller, leader-driven, apache-kafka, apache-kafka-zk; with a version: apache-kafka:3.9.2; or the file of a "
    "target of yours: ./acme.yaml."
)

Target = Annotated[
    str | None,
    typer.Option(
        metavar="TARGET",
        help=f"{DEFAULT_TARGET} (the default), {_TARGETS} Of a plan file: in place of the target that it names.",
        show_default=False,
        autocompletion=completion.targets,
    ),
]
"""The target of a scenario or of a plan file."""
TargetArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="TARGET",
        help=f"The target to run against: {DEFAULT_TARGET} (the default), {_TARGETS}",
        show_default=False,
        autocompletion=completion.targets,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="TARGET", help="Target (same as the TARGET argument).", autocompletion=completion.targets
    ),
]
ScenarioOrPlanArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO|PLAN.yaml",
        help="The name of a scenario, or a plan file.",
        autocompletion=completion.scenarios_and_plans,
    ),
]
RunArgument = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="A run folder: runs/2026-11-21-7f3c9a21", autocompletion=completion.runs),
]
RunOrPlanArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RUN|PLAN.yaml", help="A run folder, or a plan file.", autocompletion=completion.runs_and_plans
    ),
]
InteractiveRun = Annotated[
    Path | None,
    typer.Option(
        "--run",
        metavar="RUN",
        help="Run folder of the cluster, needed if several are up.",
        autocompletion=completion.runs,
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the plan. The same seed gives the same plan.")]
Runs = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the run folders.")]
Workers = Annotated[
    int,
    typer.Option(
        "--workers", "-n", min=0, metavar="N", help="Clusters to run side by side. 0: as many as the cores carry."
    ),
]
Backend = Annotated[
    str,
    typer.Option(metavar="BACKEND", help="How nodes are run: process or docker.", autocompletion=completion.backends),
]
SameBackend = Annotated[
    str | None,
    typer.Option(
        "--backend",
        metavar="BACKEND",
        help="How nodes are run: process or docker. Default: the backend of the original run.",
        autocompletion=completion.backends,
    ),
]
EndEarly = Annotated[
    bool,
    typer.Option(
        "--end-early",
        help="End the run once the claim of a step is broken for certain, as campaigns do. Default: try all steps.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output, for programs.")]


MutantOption = Annotated[
    str | None,
    typer.Option(
        "--mutant",
        metavar="NAME",
        help="Plant a defect into all nodes: a module of tests/mutants. Reference cluster and source tree only.",
    ),
]


class Annotations(StrEnum):
    """The CI system whose annotations a command prints."""

    AUTO = "auto"
    GITHUB = "github"
    NONE = "none"


SummaryOption = Annotated[
    Path | None,
    typer.Option(
        "--summary",
        metavar="FILE",
        help="Append a summary in Markdown, also to $GITHUB_STEP_SUMMARY: what failed, by which rule, since when.",
    ),
]
AnnotationsOption = Annotated[
    Annotations,
    typer.Option("--annotations", help="Annotate failures for a CI system. auto: on GitHub Actions."),
]


PublishOption = Annotated[
    str | None,
    typer.Option(
        "--publish",
        metavar="STORE",
        help="Add the results of all runs to a results store: a folder, or a URL. See `fencepost publish`.",
    ),
]


def session_option(name: str) -> Any:
    """Return Typer's form of an option that the tests of a suite have as well."""
    texts = declared()[name].help
    return typer.Option(metavar=texts.metavar or None, help=texts.in_command)


SecurityOption = Annotated[str | None, session_option("security")]
OwnedOption = Annotated[
    str | None,
    typer.Option(
        FLAG,
        metavar="ID",
        help="The id of the cluster that a target with `running` leads to: you own it, and topics, records and the "
        "faults of its file may be there. Without it nothing is sent.",
    ),
]


def chosen_target(argument: str | None, option: str | None) -> str:
    """Return the target that the user named, or the default. UsageError if the two name different targets."""
    if argument and option and argument != option:
        raise UsageError(f"two targets are named, {argument} and --target {option}: name one")
    return argument or option or DEFAULT_TARGET

"""Commands around whole suites: run them, list their stories, show a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import completion
from harness.cli.targets import DEFAULT, Target, TargetArgument, TargetOption, named

if TYPE_CHECKING:
    from harness.plan import Plan

PANEL = "Stories"
Seed = Annotated[int, typer.Option(help="What plans draw from; the same seed gives the same plan.")]
Runs = Annotated[Path, typer.Option(help="Where run folders go.")]
Backend = Annotated[str, typer.Option(help="How nodes are run: process or docker.", autocompletion=completion.backends)]
Json = Annotated[bool, typer.Option("--json", help="For programs: JSON on standard output.")]
StoryArgument = Annotated[
    str, typer.Argument(help="A name that `fencepost stories` lists.", autocompletion=completion.stories)
]


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel=PANEL)(conformance)
    app.command(rich_help_panel=PANEL)(stories)
    app.command(rich_help_panel=PANEL)(plan)


def conformance(
    target: TargetArgument = None,
    option: TargetOption = None,
    seed: Seed = 1,
    runs: Runs = Path("runs"),
    backend: Backend = "process",
    only: Annotated[str | None, typer.Option("-k", help="Only stories that match: 'cut and not replies'.")] = None,
    workers: Annotated[int, typer.Option("-n", help="Clusters side by side; 0: as many as the cores carry.")] = 0,
) -> None:
    """Break real clusters in every way the suite knows, and say which rules held.

    [bold]Examples[/bold]
      fencepost conformance
      fencepost conformance apache-kafka
      fencepost conformance apache-kafka:3.9.1 -k duplicate
    """
    import suites
    from harness.cli.conformance import Request, run_suites
    from harness.terminal import terminal
    from suites.requirements import load as load_catalogue

    load_catalogue()  # a mistake in it is a sentence here, and a traceback of each test later
    folder = Path(next(iter(suites.__path__)))
    raise typer.Exit(run_suites(Request(named(target, option), seed, runs, backend, only, workers), folder, terminal()))


def stories(
    target: TargetArgument = None,
    option: TargetOption = None,
    backend: Backend = "process",
    as_json: Json = False,
) -> None:
    """List the stories for a target, and the requirements that each can prove.

    [bold]Examples[/bold]
      fencepost stories
      fencepost stories apache-kafka --backend docker
      fencepost stories --json
    """
    from rich import box
    from rich.table import Table

    from harness.backends import check_name
    from harness.terminal import terminal
    from suites.stories import told_to
    from suites.story import ALWAYS, TargetFacts

    check_name(backend)
    facts = TargetFacts.of(named(target, option))
    rows = []
    for story in sorted(told_to(facts), key=lambda story: story.slug):
        proven = [each for each in story.plan(facts, 0).requirements if each not in ALWAYS]
        rows.append((story, story.lacking(facts, backend), proven))
    if as_json:
        said = [
            {"story": story.slug, "title": story.title, "requirements": proven, "lacking": lacking}
            for story, lacking, proven in rows
        ]
        typer.echo(json.dumps(said, indent=2))
        return
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("story", no_wrap=True)
    table.add_column("what it shows", ratio=3)
    table.add_column("requirements", ratio=2)
    for story, lacking, proven in rows:
        title = f"[dim]{story.title} (skipped: {lacking})[/dim]" if lacking else story.title
        table.add_row(story.slug, title, " ".join(proven))
    terminal().print(table)


def plan(
    story: StoryArgument,
    target: Target = DEFAULT,
    seed: Seed = 1,
) -> None:
    """Print the plan of a story: every node, link, step and expectation, before anything starts.

    [bold]Example[/bold]
      fencepost plan duplicate-id-empty > mine.yaml     (change it, then: fencepost run mine.yaml)
    """
    from harness.plan import dump_plan

    typer.echo(dump_plan(plan_of(story, target, seed)), nl=False)


def plan_of(story: str, target: str, seed: int) -> Plan:
    """The plan of a story for a target. UsageError if there is no such story, or it is not for the target."""
    import difflib

    from harness.errors import UsageError
    from suites.stories import STORIES, told_to
    from suites.story import TargetFacts

    facts = TargetFacts.of(target)
    known = {each.slug: each for each in told_to(facts)}
    if story not in known:
        if story in {each.slug for each in STORIES}:
            raise UsageError(
                f"the story {story} is not about what {target} does: `fencepost stories` lists those that are"
            )
        near = difflib.get_close_matches(story, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "`fencepost stories` lists them"
        raise UsageError(f"there is no story {story!r}: {hint}")
    if lacking := known[story].lacking(facts):
        raise UsageError(f"the story {story} cannot be told: {lacking}")
    return known[story].plan(facts, seed)


def usual_seconds(story: str) -> float | None:
    """About how long a story runs on the reference cluster; None if it is none of the suites'."""
    from suites.stories import STORIES

    return next((float(each.seconds) for each in STORIES if each.slug == story), None)

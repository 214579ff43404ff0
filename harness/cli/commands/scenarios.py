"""Commands that run, list and print scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer

from fencepost.harness.cli import completion
from fencepost.harness.cli.command import CommandOptions
from fencepost.harness.cli.options import (
    Annotations,
    AnnotationsOption,
    Backend,
    Json,
    MutantOption,
    OwnedOption,
    PublishOption,
    Runs,
    ScenarioOrPlanArgument,
    SecurityOption,
    Seed,
    SummaryOption,
    Target,
    TargetArgument,
    TargetOption,
    Workers,
    chosen_target,
    session_option,
)
from fencepost.harness.conformance.options import InconclusiveAs, SessionOptions


@dataclass(frozen=True)
class ConformanceOptions(CommandOptions):
    """Break real clusters in every way the suites know, and say which rules held.

    The suites that fit the target run side by side. At the end: the counts, the slowest scenarios, and each failure
    with the command that replays it. A folder suite-DATE-TARGET-SEED beside the run folders keeps the results.

    [bold]Examples[/bold]
      fencepost conformance
      fencepost conformance apache-kafka
      fencepost conformance apache-kafka:3.9.2 -k duplicate
      fencepost conformance --json results.json --junitxml junit.xml
      fencepost conformance --publish store
      fencepost conformance --shard 2/4 --summary "$GITHUB_STEP_SUMMARY"
    """

    target: TargetArgument = None
    option: TargetOption = None
    seed: Seed = 1
    runs: Runs = Path("runs")
    backend: Backend = "process"
    only: Annotated[
        str | None,
        typer.Option("-k", metavar="EXPRESSION", help="Run only the scenarios that match: 'cut and not replies'."),
    ] = None
    workers: Workers = 0
    json: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write the results for programs: verdict, rules, run folder and replay command of each scenario.",
        ),
    ] = None
    junitxml: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a JUnit file, which CI systems show as tests.")
    ] = None
    security: SecurityOption = None
    shard: Annotated[str | None, session_option("shard")] = None
    durations: Annotated[Path | None, session_option("durations")] = None
    inconclusive: Annotated[InconclusiveAs, session_option("inconclusive")] = InconclusiveAs.ERROR
    summary: SummaryOption = None
    annotations: AnnotationsOption = Annotations.AUTO
    mutant: MutantOption = None
    publish: PublishOption = None
    quarantine: Annotated[Path | None, session_option("quarantine")] = None
    owned: OwnedOption = None

    @cached_property
    def session(self) -> SessionOptions:
        """The options that the tests get as well."""
        return SessionOptions(
            target=chosen_target(self.target, self.option),
            seed=self.seed,
            runs=self.runs,
            backend=self.backend,
            security=self.security,
            inconclusive=self.inconclusive,
            shard=self.shard,
            durations=self.durations,
            quarantine=self.quarantine,
        )

    def perform(self) -> int:
        from fencepost.harness.cli.conformance import conformance

        return conformance(self)


@dataclass(frozen=True)
class ScenariosOptions(CommandOptions):
    """List the scenarios for a target, and the requirements that each can prove.

    A scenario that this machine or the target cannot run is listed with the reason.

    [bold]Examples[/bold]
      fencepost scenarios
      fencepost scenarios apache-kafka --backend docker
      fencepost scenarios --json
    """

    target: TargetArgument = None
    option: TargetOption = None
    backend: Backend = "process"
    as_json: Json = False

    def perform(self) -> None:
        from fencepost.harness.cli.plan import scenarios

        scenarios(self)


@dataclass(frozen=True)
class ReleasesOptions(CommandOptions):
    """List the releases of a target, and how often each was run here, with which verdicts, and when last.

    A target file lists in published the releases that there are, and in tested those that suites were run on. With
    --check the registry is asked by Maven, so with its mirrors and proxies; each release that is newer than the newest
    tested one of its line (4.3.2 after 4.3.1), or that the file does not list, is named in one line.

    Exit codes: 0 listed, and nothing is missing; 1 --check found a release that was never run, or is not listed; 2 the
    registry cannot be reached, or the store failed; 64 no such target, or no store.

    [bold]Examples[/bold]
      fencepost releases
      fencepost releases apache-kafka --runs runs --store store
      fencepost releases apache-kafka --check
      fencepost releases --check --json
    """

    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help="apache-kafka, apache-kafka-zk, or another target. Default: all.",
            show_default=False,
            autocompletion=completion.targets,
        ),
    ] = None
    runs: Runs = Path("runs")
    store: Annotated[
        str | None, typer.Option("--store", metavar="STORE", help="Count the runs of this results store, too.")
    ] = None
    check: Annotated[
        bool, typer.Option("--check", help="Ask Maven's registry for releases that are not listed, or were never run.")
    ] = False
    as_json: Json = False

    def perform(self) -> int:
        from fencepost.harness.cli.releases import releases

        return releases(self)


@dataclass(frozen=True)
class ExplainOptions(CommandOptions):
    """Explain a requirement or a check: its text and source, what judges it, and the last run that did.

    Of a requirement: its text, the document with its address and section, how an open place is read, the scenarios
    with a step that judges it, by target, the checks and the unit tests.

    [bold]Examples[/bold]
      fencepost explain K631-32
      fencepost explain ACK-01 lost-write
      fencepost explain K631-32 --json
    """

    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID",
            help="Ids of requirements, such as K631-32, and names of checks, such as lost-write.",
            autocompletion=completion.rules,
        ),
    ]
    target: Annotated[
        str | None,
        typer.Option(
            help="Name only the scenarios of this target: a name, or a target file.", autocompletion=completion.targets
        ),
    ] = None
    runs: Runs = Path("runs")
    as_json: Json = False

    def perform(self) -> None:
        from fencepost.harness.cli.explain import explain

        explain(self)


@dataclass(frozen=True)
class PlanOptions(CommandOptions):
    """Print a plan, every node, link, step and expectation, before anything starts; check a plan file.

    A plan file is checked as a run checks it, for its own target or for that of --target: each mistake is printed, and
    the exit code is 64. It has a seed of its own.

    [bold]Examples[/bold]
      fencepost plan duplicate-id-empty > mine.yaml     (change it, then: fencepost run mine.yaml)
      fencepost plan mine.yaml > /dev/null
      fencepost plan mine.yaml --target ./acme.yaml
    """

    source: ScenarioOrPlanArgument
    target: Target = None
    seed: Seed = 1

    def perform(self) -> None:
        from fencepost.harness.cli.plan import plan

        plan(self)


@dataclass(frozen=True)
class CampaignOptions(CommandOptions):
    """Run random plans until the time is up, and go on after a failure.

    The seed decides how each plan breaks its cluster. At the end: the verdicts, which fault hit which role in which
    state, and for each failure the command that replays it.

    With --learn, each plan is chosen from variants of its seed. What earlier runs had is mined from the store once,
    and written to guidance.json in the campaign's folder: seed and guidance decide all plans. A fifth of the plans are
    those of the seed, whatever was learned. docs/campaigns.md says what it brings.

    A run ends once the claim of a step is broken for certain: its verdict is a violation then, whatever follows. Later
    claims are not judged. With --to-the-end all steps of each plan are tried.

    With --on, the plans run on the executors of a Spark cluster, in rounds. All machines reach the folder --runs and
    the store. Between two rounds the store is mined, and the next plans are chosen by it. What passed leaves its rows
    in the store alone. A lost executor's plans run again, and a plan that was judged never does. At the end plans that
    found a violation are replayed and shrunk, one for each distinct cause. docs/fleet.md.

    With --plans-per-cluster a cluster lives on after a plan that passed, and the next plan is one for its nodes, with
    topics and clients of its own. A run folder has the plans before it in chain/, and replay runs them first.

    [bold]Examples[/bold]
      fencepost campaign quorum --minutes 60 --seed 7
      fencepost campaign quorum --minutes 60 --plans-per-cluster 10
      fencepost campaign apache-kafka --plans 20 --workers 1
      fencepost campaign zk-controller --plans 10 --dry-run
      fencepost campaign quorum --pairwise --minutes 120
      fencepost campaign quorum --plans 20 --security tls-scram
      fencepost campaign quorum --minutes 60 --publish store
      fencepost campaign quorum --minutes 60 --learn store --publish store
      fencepost campaign quorum --on spark://head:7077 --runs /shared/runs --publish /shared/store --budget 8h
      fencepost campaign quorum --on 'local[2]' --publish store --until 1-new-signature
      fencepost campaign apache-kafka:4.4.0 --on 'local[2]' --publish store --regressions store
      fencepost campaign quorum --guidance runs/campaign-2026-11-23-quorum-1-7/guidance.json --seed 7
    """

    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="The target to run against: quorum, leader-driven, apache-kafka:3.9.2 …",
            autocompletion=completion.targets,
        ),
    ]
    minutes: Annotated[
        float, typer.Option(min=0.0, metavar="N", help="Stop starting plans after this many minutes.")
    ] = 60.0
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed of the plans. The same seed gives the same plans.")
    ] = 1
    plans: Annotated[int | None, typer.Option(min=1, metavar="N", help="Run at most this many plans.")] = None
    workers: Workers = 0
    backend: Backend = "process"
    runs: Runs = Path("runs")
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")] = False
    summary: SummaryOption = None
    annotations: AnnotationsOption = Annotations.AUTO
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what the plans would break, and start nothing.")] = (
        False
    )
    security: SecurityOption = None
    mutant: MutantOption = None
    pairwise: Annotated[
        bool,
        typer.Option("--pairwise", help="In place of random plans: every operation, fault and role with each other."),
    ] = False
    publish: PublishOption = None
    learn: Annotated[
        str | None,
        typer.Option(
            "--learn",
            metavar="STORE",
            help="Choose plans by earlier runs: what was never or rarely tried, and what is near a plan that failed. "
            "STORE is a results store.",
        ),
    ] = None
    guidance: Annotated[
        Path | None,
        typer.Option(
            "--guidance",
            metavar="FILE",
            help="Repeat a campaign that learned, without its store: guidance.json of its folder, and its seed.",
        ),
    ] = None
    to_the_end: Annotated[
        bool, typer.Option("--to-the-end", help="Try all steps of a plan, also after a claim that is certainly broken.")
    ] = False
    plans_per_cluster: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Run up to N plans one after the other on a cluster that lives on. One plan in five has a fresh one.",
        ),
    ] = 1

    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="MASTER",
            help="Run the plans on a Spark cluster: spark://HOST:PORT, or local[2]. Needs --publish.",
        ),
    ] = None
    plans_per_round: Annotated[
        int, typer.Option(min=1, metavar="N", help="With --on: the plans of a round, after which the store is mined.")
    ] = 50
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="With --on: begin no round after this time, 90m or 8h. In place of --minutes."
        ),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(
            metavar="N-new-signatures",
            help="With --on: begin no round once so many kinds of violations are in the store that were not there "
            "before the first: 3-new-signatures.",
        ),
    ] = None
    regressions: Annotated[
        str | None,
        typer.Option(
            metavar="STORE",
            help="With --on: first run the plans that found a violation on any release of the target, the shortest of "
            "each kind, from this results store.",
        ),
    ] = None
    shrink_minutes: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="N",
            help="With --on: at the end, replay and shrink what found a violation, for N minutes. 0: do not.",
        ),
    ] = 30.0
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="With --on: go on with a campaign, whose driver was ended, where its rounds say."
        ),
    ] = None

    def perform(self) -> int:
        from fencepost.harness.cli.campaign import campaign

        return campaign(self)

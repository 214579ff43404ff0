"""The runs of an index page, read from a folder of runs, a suite or a campaign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fencepost.harness.report.suite_results import ScenarioResult, SuiteResult
from fencepost.results.records.files import from_json, read_json
from fencepost.results.records.folder import FolderError, Manifest, RunFolder
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.survey import CAMPAIGN_FILE, SUITE_FILE, FolderState, survey
from fencepost.results.records.verdict import Verdict

SUMMARY = "summary.json"
PAGE = "index.html"


@dataclass(frozen=True)
class IndexedRun:
    """One run, or a scenario that was not run. `verdict` is None without one; `state` then says why.

    `seconds` is the duration, `started` in unix seconds. `title` is empty if only the plan has it.
    """

    scenario: str
    title: str = ""
    target: str = ""
    backend: str = ""
    verdict: Verdict | None = None
    state: str = ""
    seconds: float | None = None
    started: float | None = None
    seed: int | None = None
    headline: str = ""
    folder: RunFolder | None = None
    rules: tuple[RequirementResult, ...] = ()
    differences: tuple[str, ...] = ()
    planted_defect: str = ""
    manifest: Manifest | None = None

    @property
    def system(self) -> str:
        """Return what ran, as a column of the rules names it: a planted defect makes it another system."""
        defect = f"planted defect {self.planted_defect}" if self.planted_defect else ""
        return ", ".join(filter(None, (self.target, self.backend, defect)))

    @property
    def broken(self) -> list[RequirementResult]:
        """Return the rules that did not hold; for an inconclusive run those that were not covered."""
        states = {Verdict.VIOLATION: RequirementState.BROKEN, Verdict.INCONCLUSIVE: RequirementState.NOT_COVERED}
        return [rule for rule in self.rules if self.verdict in states and rule.state is states[self.verdict]]


@dataclass(frozen=True)
class NotRun:
    """Parts that were left out for one reason: scenarios of a suite, kinds of faults of a campaign."""

    reason: str
    names: tuple[str, ...]
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A suite or a campaign in a folder of runs, from its own summary. `verdict` is None if it has none yet."""

    title: str
    folder: Path
    verdict: Verdict | None
    counts: Mapping[Verdict, int]
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Met:
    """How often a fault met a node of a role in a state."""

    fault: str
    role: str
    state: str
    times: int


@dataclass(frozen=True)
class Index:
    """The content of an index page in `folder`. `facts` are shown below the title.

    `parts` are the suites and campaigns of a folder of runs, with pages of their own. `met` is of a campaign.
    """

    title: str
    folder: Path
    runs: tuple[IndexedRun, ...]
    facts: tuple[str, ...] = ()
    not_run: tuple[NotRun, ...] = ()
    parts: tuple[Part, ...] = ()
    met: tuple[Met, ...] = ()
    interrupted: str = ""
    """Says what is missing because the suite or campaign was ended before its time."""
    is_part: bool = False
    """It is a suite or a campaign in a folder of runs, which has a page of its own."""

    @property
    def page(self) -> Path:
        return self.folder / PAGE

    @property
    def verdict(self) -> Verdict | None:
        """Return the worst verdict of all runs, or None if none was judged.

        Runs with a planted defect count only if there are no others.
        """
        judged = [run for run in self.runs if run.verdict is not None]
        counted = [run for run in judged if not run.planted_defect] or judged
        return Verdict.worst(run.verdict for run in counted if run.verdict is not None) if counted else None


def read_index(folder: Path) -> Index:
    """Read the index of a suite, a campaign or a folder of runs. FolderError if it is none of these."""
    if not folder.is_dir():
        raise FolderError(f"{folder} is not a folder: name a folder that holds run folders, a suite or a campaign")
    if (folder / "plan.yaml").is_file():
        raise FolderError(f"{folder} is one run, with {RunFolder(folder).report.name}: name the folder that holds it")
    try:
        if (folder / SUITE_FILE).is_file():
            return _suite(folder)
        if (folder / CAMPAIGN_FILE).is_file():
            return _campaign(folder)
    except ValueError as error:
        raise FolderError(f"the results in {folder} cannot be read: {error}") from None
    return _runs(folder)


def _suite(folder: Path) -> Index:
    result = SuiteResult.load(folder / SUITE_FILE)
    reasons: dict[str, list[ScenarioResult]] = {}
    for scenario in result.skipped:
        reasons.setdefault(scenario.skipped or "", []).append(scenario)
    missing = [each.scenario for each in result.scenarios if each.verdict is None and each.skipped is None]
    return Index(
        title=_suite_title(result),
        is_part=True,
        folder=folder,
        runs=tuple(_of_scenario(each, folder.parent, result) for each in result.scenarios if each.skipped is None),
        facts=_suite_facts(result),
        not_run=tuple(
            NotRun(
                reason,
                tuple(each.scenario for each in skipped),
                tuple(dict.fromkeys(rule for each in skipped for rule in each.requirements)),
            )
            for reason, skipped in sorted(reasons.items(), key=lambda each: -len(each[1]))
        ),
        interrupted=f"The suite was interrupted; {len(missing)} scenarios were not run." if result.interrupted else "",
    )


def _suite_title(result: SuiteResult) -> str:
    return f"Suite of {result.target} {result.target_version}"


def _suite_facts(result: SuiteResult) -> tuple[str, ...]:
    facts = [f"seed {result.seed}", f"{result.backend} backend", f"{result.seconds:.0f} s"]
    facts += [f"only {result.selection}"] if result.selection else []
    facts += [f"shard {result.shard}"] if result.shard else []
    facts += [f"planted defect {defect}" for defect in result.planted_defects]
    return tuple(facts)


def _of_scenario(result: ScenarioResult, runs: Path, suite: SuiteResult) -> IndexedRun:
    """Return the run of a scenario. Its folder is looked up beside the suite's: both may have been moved together."""
    folder = None if result.run is None else RunFolder(runs / Path(result.run).name)
    run = IndexedRun(result.scenario) if folder is None else read_run(folder)
    return replace(
        run,
        title=result.title,
        target=run.target or f"{suite.target} {suite.target_version}",
        backend=suite.backend,
        seed=suite.seed,
        seconds=result.seconds,
        verdict=result.verdict,
        state="" if result.verdict is not None else "not run",
        headline=run.headline or result.headline or "",
        rules=run.rules or result.rules,
        differences=result.differences,
    )


@dataclass(frozen=True)
class _Request:
    """The part of `campaign.json` that the page shows."""

    target: str
    backend: str
    seed: int
    minutes: float

    @property
    def title(self) -> str:
        return f"Campaign on {self.target.replace(':', ' ')}"


@dataclass(frozen=True)
class _Outcome:
    seed: int
    title: str
    verdict: Verdict
    seconds: float
    headline: str
    run: str | None
    planted_defect: str = ""


@dataclass(frozen=True)
class _LeftOut:
    kind: str
    reason: str


@dataclass(frozen=True)
class _Summary:
    """The part of `summary.json` that the page shows; the defaults are of a campaign without an ended plan."""

    verdict: Verdict | None = None
    counts: Mapping[Verdict, int] = field(default_factory=dict)
    outcomes: tuple[_Outcome, ...] = ()
    left_out: tuple[_LeftOut, ...] = ()
    coverage: tuple[Met, ...] = ()
    interrupted: int = 0


def _campaign(folder: Path) -> Index:
    """Read a campaign: its runs, and from the summary, if it has one, what it left out and what its faults met."""
    request, summary = _campaign_files(folder)
    titles = {Path(outcome.run).name: outcome.title for outcome in summary.outcomes if outcome.run is not None}
    runs = [
        replace(run, title=titles.get(run.folder.name, run.title)) if run.folder is not None else run
        for run in _of_folders(folder)
    ]
    runs += [
        IndexedRun(
            f"plan of seed {outcome.seed}",
            outcome.title,
            request.target.replace(":", " "),
            request.backend,
            outcome.verdict,
            seconds=outcome.seconds,
            seed=outcome.seed,
            headline=outcome.headline,
        )
        for outcome in summary.outcomes
        if outcome.run is None
    ]
    reasons: dict[str, list[str]] = {}
    for fault in summary.left_out:
        reasons.setdefault(fault.reason, []).append(fault.kind)
    number = summary.interrupted
    return Index(
        title=request.title,
        is_part=True,
        folder=folder,
        runs=tuple(runs),
        facts=_campaign_facts(request, summary),
        not_run=tuple(NotRun(reason, tuple(kinds)) for reason, kinds in reasons.items()),
        met=summary.coverage,
        interrupted=f"{number} plans were running when the campaign was interrupted." if number else "",
    )


def _campaign_files(folder: Path) -> tuple[_Request, _Summary]:
    request = from_json(_Request, read_json(folder / CAMPAIGN_FILE))
    path = folder / SUMMARY
    return request, from_json(_Summary, read_json(path)) if path.is_file() else _Summary()


def _campaign_facts(request: _Request, summary: _Summary) -> tuple[str, ...]:
    planted = sorted({outcome.planted_defect for outcome in summary.outcomes} - {""})
    facts = (f"seed {request.seed}", f"{request.backend} backend", f"{request.minutes:g} min allowed")
    return *facts, *(f"planted defect {defect}" for defect in planted)


def _part(folder: Path) -> Part:
    """Read the own summary of a suite or a campaign, and no run of it."""
    try:
        if (folder / SUITE_FILE).is_file():
            result = SuiteResult.load(folder / SUITE_FILE)
            return Part(_suite_title(result), folder, result.verdict, result.counts(), _suite_facts(result))
        request, summary = _campaign_files(folder)
        return Part(request.title, folder, summary.verdict, summary.counts, _campaign_facts(request, summary))
    except ValueError as error:
        return Part(folder.name, folder, None, {}, (f"cannot be read: {error}",))


def _runs(folder: Path) -> Index:
    content = survey(folder)
    parts = tuple(_part(part) for part in (*reversed(content.suites), *reversed(content.campaigns)))
    return Index(title=f"Runs in {folder.resolve().name}", folder=folder, runs=tuple(_of_folders(folder)), parts=parts)


def _of_folders(folder: Path) -> list[IndexedRun]:
    """Return all runs directly in the folder, the newest first."""
    content = survey(folder)
    judged = [read_run(each) for each in content.folders[FolderState.JUDGED]]
    others = [
        replace(read_run(each), state=state.value)
        for state in (FolderState.RUNNING, FolderState.KILLED)
        for each in content.folders[state]
    ]
    return sorted([*judged, *others], key=lambda run: -(run.started or 0))


def read_run(folder: RunFolder) -> IndexedRun:
    """Read what a run folder has of verdict and manifest."""
    run = IndexedRun(folder.name, folder=folder, state="unreadable")
    if (manifest := folder.try_manifest()) is not None:
        run = replace(
            run,
            scenario=manifest.scenario,
            target=f"{manifest.target} {manifest.target_version}".strip(),
            backend=manifest.backend,
            seed=manifest.seed,
            started=manifest.started,
            planted_defect=manifest.planted_defect,
            manifest=manifest,
        )
    if (verdict := folder.try_verdict()) is not None:
        run = replace(
            run,
            scenario=verdict.scenario,
            target=run.target or verdict.target.replace(":", " "),
            verdict=verdict.verdict,
            state="",
            seconds=verdict.duration,
            headline=verdict.headline,
            rules=verdict.requirements,
            planted_defect=verdict.planted_defect,
            differences=tuple(sorted({each.difference for each in verdict.of(Verdict.PASS) if each.difference})),
        )
    return run

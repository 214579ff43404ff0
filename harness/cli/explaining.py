"""The facts that `fencepost explain` prints: the rule, the scenarios that ask it, what judges it, the last evidence."""

from __future__ import annotations

import difflib
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fencepost.harness.catalogue import Document, Requirement, catalogue
from fencepost.harness.catalogue.model import RequirementKind
from fencepost.harness.checkers.added import added_checkers, identities
from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.registry import checks, run_checks
from fencepost.harness.errors import UsageError
from fencepost.harness.plan.claims import Claim, claims
from fencepost.harness.plan.model import Plan
from fencepost.harness.targets.registry import load_file, names
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.requirements import RequirementState
from fencepost.results.records.verdict import RunVerdict
from fencepost.suites.matrix import TESTS, named_by_tests
from fencepost.suites.scenarios import scenarios_for
from fencepost.suites.target_facts import TargetFacts


@dataclass(frozen=True)
class Asked:
    """A scenario that judges a requirement on a target.

    `claims` has what is expected, with the names of the steps: ``never `served`: alone-fetch, alone-produce``.
    """

    target: str
    scenario: str
    title: str
    claims: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """The newest run that exercised a requirement or a check. `state` is that of the requirement, or of the check."""

    run: str
    scenario: str
    target: str
    state: str
    verdict: str
    report: str


@dataclass(frozen=True)
class Rule:
    """A requirement of an installed catalogue, and all that asks, judges and shows it."""

    row: Requirement
    document: Document
    readings: tuple[Requirement, ...]
    asked: tuple[Asked, ...]
    checks: tuple[Check, ...]
    tests: tuple[str, ...]
    evidence: Evidence | None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.row.id,
            "says": self.row.says,
            "kind": self.row.kind.value,
            "level": self.row.level.value,
            "document": self.document.name,
            "title": self.document.title,
            "section": self.row.section,
            "url": self.document.url,
            "note": self.row.note,
            "untested": self.row.untested,
            "unseen": self.row.unseen,
            "place": self.row.place,
            "readings": [{"id": each.id, "says": each.says} for each in self.readings],
            "scenarios": [asdict(each) for each in self.asked],
            "checks": [{"check": each.name, "title": each.anomaly, "basis": each.basis.value} for each in self.checks],
            "tests": list(self.tests),
            "evidence": self.evidence and asdict(self.evidence),
        }


@dataclass(frozen=True)
class KnownCheck:
    """A check by its name, with the requirements that it judges: none for a check of the run itself."""

    name: str
    says: str
    rules: tuple[Requirement, ...]
    basis: str | None
    place: str | None
    evidence: Evidence | None

    def to_json(self) -> dict[str, Any]:
        return {
            "check": self.name,
            "says": self.says,
            "requirements": [{"id": each.id, "says": each.says} for each in self.rules],
            "basis": self.basis,
            "place": self.place,
            "evidence": self.evidence and asdict(self.evidence),
        }


def known_names(added: Iterable[Check] = ()) -> list[str]:
    """Return all ids that can be explained: requirements of the catalogues, then checks, with those of others."""
    return [*catalogue().rows, *dict.fromkeys(check.name for check in (*checks(), *added)), *run_checks()]


def find(name: str, names: Iterable[str]) -> str:
    """Return the one of `names` that `name` stands for, in any case. UsageError with the nearest if there is none."""
    known = {each.lower(): each for each in names}
    if name.lower() in known:
        return known[name.lower()]
    begins = [each for key, each in known.items() if key.startswith(f"{name.lower()}-")]
    if begins:
        raise UsageError(f"{name} is a prefix of {len(begins)} ids, {begins[0]} to {begins[-1]}: name one of them")
    near = difflib.get_close_matches(name.lower(), known, n=3)
    hint = f"did you mean {' or '.join(known[each] for each in near)}?" if near else "press tab to complete an id"
    raise UsageError(
        f"no requirement and no check is called {name}: {hint} (those of a target file are known with `--target FILE`)"
    )


class Explainer:
    """Explains ids. Plans, tests and runs are read once, whatever the number of ids.

    `target` limits scenarios and runs to those of one target, which may be a target file, and runs to those of one
    release if it names one. Its catalogues are read, too.
    Without one the scenarios of upgrades are those of the usual upgrade of each target that has one.
    """

    def __init__(self, runs: Path, target: str | None = None) -> None:
        self._runs = runs
        self._limited = target is not None
        self._release = target is not None and ":" in target
        references = [target] if target else names()
        files = [load_file(reference) for reference in references]
        upgrades = [] if target else [upgrade for file in files if (upgrade := file.usual_upgrade) is not None]
        self._targets = [TargetFacts.of(reference) for reference in (*references, *upgrades)]
        added = (added_checkers(file.checkers, file.beside) for file in files)
        self._places = {**checks(), **identities(checker for checkers in added for checker in checkers)}

    def explain(self, name: str) -> Rule | KnownCheck:
        """Return the facts about a requirement or a check. UsageError if there is none of this name."""
        found = find(name, known_names(self._places))
        return self._rule(catalogue()[found]) if found in catalogue().rows else self._check(found)

    def _rule(self, row: Requirement) -> Rule:
        return Rule(
            row=row,
            document=catalogue().document(row.document),
            readings=tuple(_readings(row)),
            asked=tuple(self._asked.get(row.id, ())),
            checks=tuple({check.name: check for check in self._places if row.id in check.requirements}.values()),
            tests=self._tests.get(row.id, ()),
            evidence=next(self._exercising(row.id), None),
        )

    def _check(self, name: str) -> KnownCheck:
        named = [check for check in self._places if check.name == name]
        evidence = next(self._checking(name), None)
        if not named:
            return KnownCheck(name, run_checks()[name].says, (), None, None, evidence)
        ids = dict.fromkeys(rule for check in named for rule in check.requirements)
        rules = tuple(catalogue()[rule] for rule in ids)
        return KnownCheck(name, f"{named[0].anomaly}.", rules, named[0].basis.value, self._places[named[0]], evidence)

    @cached_property
    def _asked(self) -> Mapping[str, list[Asked]]:
        """The scenarios that judge each requirement, by target."""
        asked: dict[str, list[Asked]] = defaultdict(list)
        for target in self._targets:
            for scenario in scenarios_for(target):
                if not scenario.workloads <= target.workloads:
                    continue  # it is skipped
                if not self._limited and scenario.releases < len(target.releases):
                    continue  # it is asked of the release itself, too
                plan = scenario.plan(target, 1)
                for requirement, expected in _claims(plan).items():
                    asked[requirement].append(Asked(plan.target, plan.scenario, plan.title, expected))
        return asked

    @cached_property
    def _tests(self) -> Mapping[str, tuple[str, ...]]:
        """The tests of the repository, which an installed package does not have."""
        return named_by_tests() if TESTS.is_dir() else {}

    @cached_property
    def _verdicts(self) -> list[tuple[RunFolder, RunVerdict]]:
        """The judged runs below the folder, the newest first; those of campaigns stand one folder deeper."""
        paths = [*self._runs.glob("*/verdict.json"), *self._runs.glob("*/*/verdict.json")]
        found = []
        for path in sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True):
            try:
                verdict = RunVerdict.load(path)
            except (OSError, ValueError) as error:
                print(f"left out {path.parent}: {error}", file=sys.stderr)
                continue
            if self._is_asked_for(verdict.target):
                found.append((RunFolder(path.parent), verdict))
        return found

    def _is_asked_for(self, reference: str) -> bool:
        if not self._limited:
            return True
        [target] = self._targets
        return reference == target.reference if self._release else reference.partition(":")[0] == target.name

    def _exercising(self, requirement: str) -> Iterator[Evidence]:
        for folder, verdict in self._verdicts:
            result = verdict.requirement(requirement)
            if result is not None and result.state is not RequirementState.NOT_EXERCISED:
                yield _evidence(folder, verdict, result.state.value)

    def _checking(self, name: str) -> Iterator[Evidence]:
        for folder, verdict in self._verdicts:
            if findings := [each for each in verdict.findings if each.check == name]:
                yield _evidence(folder, verdict, type(verdict.verdict).worst(each.verdict for each in findings).value)


def _evidence(folder: RunFolder, verdict: RunVerdict, state: str) -> Evidence:
    return Evidence(
        str(folder.path), verdict.scenario, verdict.target, state, verdict.verdict.value, str(folder.report)
    )


def _claims(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return by requirement what the plan expects, with the names of the steps."""
    steps: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for claim in claims(plan):
        steps[claim.requirement][_expected(claim)].append(claim.step or "the whole run")
    return {
        requirement: tuple(f"{expected}: {', '.join(dict.fromkeys(names))}" for expected, names in by.items())
        for requirement, by in steps.items()
    }


def _expected(claim: Claim) -> str:
    """Return what a claim expects: ``never `served` ``, `must come true`, `may be broken as LF-01`."""
    if claim.step is None:
        return f"{claim.level} be broken as {claim.difference}"
    expected = f"`{claim.outcome}`" if claim.outcome else "come true"
    return f"{claim.level} {expected}" + (f" as {claim.difference}" if claim.difference else "")


def _readings(row: Requirement) -> Iterable[Requirement]:
    """Return our decisions about the row: those that its note names, and those of its section."""
    named = set(re.findall(r"[A-Z0-9]+-\d+", row.note or ""))
    for each in catalogue():
        same_section = (each.document, each.section) == (row.document, row.section)
        decided = each.kind is RequirementKind.DECISION and row.kind is not RequirementKind.DECISION
        if each.id in named or (decided and same_section):
            yield each

"""The properties of a run in JUnit XML, and the requirements that the run judged besides those of every run."""

from __future__ import annotations

from fencepost.harness.checkers.owed import every_run
from fencepost.harness.conformance.results import NOT_EXERCISED_PROPERTY, REPORT_PROPERTY, VERDICT_PROPERTY
from fencepost.harness.plan.model import Plan
from fencepost.results.records.folder import Manifest, RunFolder
from fencepost.results.records.replay_command import replay_command
from fencepost.results.records.requirements import RequirementResult, RequirementState
from fencepost.results.records.verdict import RunVerdict


def run_properties(plan: Plan, folder: RunFolder, verdict: RunVerdict) -> list[tuple[str, str]]:
    """Return what JUnit XML says about a run."""
    manifest = Manifest.load(folder.manifest)
    identity = {
        "fencepost.digest": manifest.target_digest,
        "fencepost.commit": manifest.target_commit,
        "fencepost.planted_defect": verdict.planted_defect,
    }
    return [
        (VERDICT_PROPERTY, verdict.verdict.value),
        ("fencepost.requirements", " ".join(each.id for each in own_requirements(verdict))),
        (NOT_EXERCISED_PROPERTY, " ".join(verdict.not_exercised)),
        *(("fencepost.broken", f"{each.id}: {each.rule}") for each in _broken(verdict)),
        ("fencepost.target", manifest.target),
        ("fencepost.version", manifest.target_version),
        *((name, value) for name, value in identity.items() if value),
        ("fencepost.backend", manifest.backend),
        ("fencepost.seed", str(plan.seed)),
        ("fencepost.run", folder.name),
        (REPORT_PROPERTY, str(folder.report)),
        ("fencepost.replay", replay_command(folder)),
    ]


def own_requirements(verdict: RunVerdict) -> tuple[RequirementResult, ...]:
    """Return the requirements that the run judged besides those that every run is judged by, and the broken ones."""
    return tuple(
        each
        for each in verdict.requirements
        if each.state is RequirementState.BROKEN
        or (each.state is not RequirementState.NOT_EXERCISED and each.id not in every_run())
    )


def _broken(verdict: RunVerdict) -> list[RequirementResult]:
    return [each for each in verdict.requirements if each.state is RequirementState.BROKEN]

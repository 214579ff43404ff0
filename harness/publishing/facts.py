"""The facts of one run folder as rows of the store."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from ruamel.yaml.error import YAMLError

from fencepost.harness.campaign.combinations import kinds_of_clients, tried
from fencepost.harness.campaign.coverage import ordered_faults
from fencepost.harness.checkers.starvation import read_waits
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.saved import saved_plan
from fencepost.harness.publishing.cluster_events import fault_rows, state_change_rows
from fencepost.harness.publishing.logs import log_rows
from fencepost.harness.publishing.timings import latency_rows, timing_rows
from fencepost.results.records.folder import RANDOM_PLANS, Manifest, RunFolder
from fencepost.results.records.journal import Journal, read_journal
from fencepost.results.records.verdict import Finding, RunVerdict, Verdict
from fencepost.results.store.masking import MASKING, mask, masked_signature
from fencepost.results.store.rows import FindingRow, PlanRow, RequirementRow, RunColumns, RunRow
from fencepost.results.store.tables import Row, stored_run

MESSAGE, EVIDENCE = 4_000, 20_000
"""Characters of a message and of its evidence that the store keeps."""


class Unpublishable(Exception):
    """A run folder has no facts to publish. `file` is at fault, `reason` is a word or two for tables."""

    def __init__(self, reason: str, file: str, detail: str) -> None:
        super().__init__(f"{file}: {detail}")
        self.reason, self.file, self.detail = reason, file, detail


@dataclass(frozen=True)
class Facts:
    """The rows of one run by table. `damage` says what of its journal is torn or unreadable; empty for a whole one."""

    rows: Mapping[str, list[Row]]
    damage: str = ""


def read_facts(folder: RunFolder, campaign: str | None = None) -> Facts:
    """Return the facts of a judged run folder. Raise Unpublishable if one of its files cannot be read."""
    try:
        manifest = Manifest.load(folder.manifest)
        started = datetime.fromtimestamp(manifest.started, UTC)
    except (OSError, ValueError, OverflowError) as error:
        raise Unpublishable("unreadable", folder.manifest.name, _said(error)) from error
    try:
        verdict = RunVerdict.load(folder.verdict)
    except (OSError, ValueError) as error:
        raise Unpublishable("unreadable", folder.verdict.name, _said(error)) from error
    try:
        text, plan = saved_plan(folder, manifest)
    except (OSError, ValueError, ValidationError, YAMLError) as error:
        raise Unpublishable("unreadable", folder.plan.name, _said(error)) from error
    try:
        journal = read_journal(folder.journal)
    except OSError as error:
        raise Unpublishable("unreadable", folder.journal.name, _said(error)) from error

    kept = [each for each in verdict.findings if each.verdict is not Verdict.PASS or each.difference is not None]
    findings = [_finding(each) for each in kept]
    columns = RunColumns(
        date=started.date(),
        run_id=run_id(manifest),
        test=RANDOM_PLANS if campaign is not None else manifest.scenario,
        target=manifest.target,
        release=manifest.target_version or None,
        build=manifest.target_digest or manifest.target_commit or None,
        backend=manifest.backend,
        verdict=verdict.verdict.value,
        started_at=started,
    )
    faults = fault_rows(ordered_faults(plan, journal), journal)
    changes = state_change_rows(journal)
    passed = verdict.verdict is Verdict.PASS
    facts = (
        *(*findings, *faults, *changes),
        *timing_rows(plan, journal, faults, changes),
        *latency_rows(journal),
        *log_rows(folder.logs),
        *_requirements(verdict),
        *(() if passed else (PlanRow(plan_hash=manifest.plan_hash, steps=len(plan.steps), plan=text),)),
    )
    run = _run(folder, manifest, verdict, plan, journal, campaign, findings)
    return Facts(stored_run(columns, run, facts), _damage(journal))


def run_id(manifest: Manifest) -> str:
    """Return the identity of a run: its name alone may occur on another machine."""
    whole = f"{manifest.run} {manifest.started!r} {manifest.plan_hash} {manifest.backend}"
    return f"{manifest.run}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def _run(
    folder: RunFolder,
    manifest: Manifest,
    verdict: RunVerdict,
    plan: Plan,
    journal: Journal,
    campaign: str | None,
    findings: Iterable[FindingRow],
) -> RunRow:
    idle = verdict.verdict is Verdict.INFRASTRUCTURE and not any(journal.of("node", "started"))
    return RunRow(
        source="fencepost",
        suite=plan.document or None,
        scenario=manifest.scenario,
        campaign=campaign,
        title=plan.title,
        run=folder.name,
        folder=str(folder.path.resolve()),
        plan_hash=manifest.plan_hash,
        plan_steps=len(plan.steps),
        seed=manifest.seed,
        attempt=_attempt(folder.name),
        features=sorted(_features(plan)),
        nodes=len(plan.topology.nodes),
        commit=manifest.commit or None,
        harness=manifest.versions.get("fencepost"),
        target_commit=manifest.target_commit or None,
        planted_defect=manifest.planted_defect or None,
        branch=manifest.ci.get("branch"),
        ci_system=manifest.ci.get("system"),
        ci_job=manifest.ci.get("job"),
        ci_commit=manifest.ci.get("commit"),
        ci_url=manifest.ci.get("url"),
        machine=manifest.machine.get("system"),
        cores=_integer(manifest.machine.get("cores")),
        memory_mb=_integer(manifest.machine.get("memory_mb")),
        starvation=_starvation(journal),
        left_out="no node started" if idle else "planted defect" if manifest.planted_defect else None,
        headline=verdict.headline,
        signature=next((row.signature for row in findings if row.finding == verdict.verdict.value), None),
        duration_s=verdict.duration,
        events=len(journal.events),
        torn=journal.torn,
        damaged=len(journal.damaged),
        published_at=datetime.now(UTC),
        combinations=sorted(map(str, tried(plan))),
    )


def _attempt(name: str) -> int:
    """Return the number of the run among those of its plan and day in one folder: 3 of `2026-11-23-4e0c6796-3`."""
    found = re.fullmatch(r"\d{4}-\d\d-\d\d-[0-9a-f]{8}-(\d+)", name)
    return int(found[1]) if found else 1


def _features(plan: Plan) -> set[str]:
    """Return what the plan does, as items of which a pattern can be made."""
    features = {f"step:{step.do}" for step in plan.steps}
    features |= {
        f"fault:{fault}" for step in plan.steps if (fault := getattr(step, "fault", None)) and step.do == "inject"
    }
    features |= {f"workload:acks={producer.acks}" for producer in plan.workload.producers}
    features |= {f"workload:{kind}" for kind in kinds_of_clients(plan.workload)}
    return features | ({f"security:{_security(plan)}"} if plan.security != "plaintext" else set())


def _starvation(journal: Journal) -> float | None:
    """Return the largest share of its time for which a node waited for a processor; None if it was not measured."""
    shares = (
        sum(wait.seconds for wait in waits) / (sum(wait.end - wait.begin for wait in waits) or 1.0)
        for waits in read_waits(journal).values()
    )
    return max(shares, default=None)


def _finding(finding: Finding) -> FindingRow:
    masked = mask(finding.message[:MESSAGE])
    table = finding.counterexample
    evidence: dict[str, Any] = {**finding.evidence}
    if table is not None:
        evidence["counterexample"] = {"columns": table.columns, "rows": table.rows, "total": table.total}
    judged = finding.evidence.get("judged")
    return FindingRow(
        rule=finding.requirement,
        also=list(finding.also),
        check=finding.check,
        finding=finding.verdict.value,
        level=finding.level,
        difference=finding.difference,
        title=finding.title,
        message=finding.message[:MESSAGE],
        masked=masked,
        signature=masked_signature(finding.check, finding.requirement or "", masked),
        masking=MASKING,
        at_s=finding.at,
        basis=finding.basis.value,
        judged=judged if isinstance(judged, int) else None,
        evidence=json.dumps(evidence, default=str)[:EVIDENCE] if evidence else None,
        part_of=finding.part_of,
    )


def _requirements(verdict: RunVerdict) -> Iterator[RequirementRow]:
    checks: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for finding in verdict.findings:
        for rule in finding.requirements:
            checks[rule] += 1
            if isinstance(number := finding.evidence.get("judged"), int):
                judged[rule] += number
    for requirement in verdict.requirements:
        yield RequirementRow(
            rule=requirement.id,
            state=requirement.state.value,
            checks=checks[requirement.id],
            judged=judged.get(requirement.id),
            says=requirement.says,
            document=requirement.document,
            section=requirement.section,
            url=requirement.url,
        )


def _damage(journal: Journal) -> str:
    damage = [str(each) for each in journal.damaged[:3]]
    damage += [f"{len(journal.damaged) - 3} further lines"] if len(journal.damaged) > 3 else []
    return "; ".join([*damage, *(["the last line is torn"] if journal.torn else [])])


def _integer(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def _said(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _security(plan: Plan) -> str:
    """Return the name of the plan's security, or the protocols that it spells out."""
    if isinstance(plan.security, str):
        return plan.security
    return "+".join(dict.fromkeys(each.protocol.lower() for each in plan.security.listeners.values()))

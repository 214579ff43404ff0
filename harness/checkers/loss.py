"""One loss as one finding, with its whole extent, however many rules it breaks (decision 0046).

Committed records that are gone are found by several checks: by acknowledgements, by what consumers had read, by the
logs of replicas. The first of these findings, the lead, says the whole loss: how many records, where, which client had
them, and from which logs they are absent. The findings of other rules that are about no other offsets become parts of
it.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from fencepost.harness.checkers.check import extent, named_places, within
from fencepost.harness.checkers.checker import LossRole
from fencepost.harness.checkers.control import TopicPartition
from fencepost.harness.checkers.history import History, Promise
from fencepost.harness.checkers.lost_write import skipped_promises
from fencepost.harness.checkers.missing import successor
from fencepost.harness.checkers.record_table import Place, RecordTable
from fencepost.harness.checkers.registry import checkers
from fencepost.harness.checkers.replica_logs import Replicas
from fencepost.harness.checkers.unseen import gone_promises
from fencepost.harness.checkers.vanished import vanished_records
from fencepost.results.records.verdict import Finding, Verdict


@dataclass(frozen=True)
class Loss:
    """The committed records of a run that are gone, in the order of their places."""

    places: tuple[Place, ...]
    history: History
    replicas: Replicas

    @cached_property
    def acknowledged(self) -> list[Promise]:
        """Return those that were acknowledged at acks=all."""
        places = set(self.places)
        return [each for each in self.history.promises if (each.at, each.offset, each.value) in places]

    @cached_property
    def read(self) -> Mapping[Place, str]:
        """Return those that a consumer read before the final read, with the consumer's name."""
        polls = {place: self.history.first_reads.get(place) for place in self.places}
        return {place: poll.process for place, poll in polls.items() if poll is not None and not poll.final}

    @cached_property
    def logs(self) -> Mapping[str, tuple[int, int]]:
        """Return for each log how many of the records it lacks, and of how many of its partitions."""
        counts: dict[str, tuple[int, int]] = {}
        for at, offset, value in self.places:
            for log in self.replicas.of(at):
                lacks, of = counts.get(log.name, (0, 0))
                counts[log.name] = (lacks + ((log.find(offset, value) or ("",))[0] != value), of + 1)
        return dict(sorted(counts.items()))

    @cached_property
    def instead(self) -> frozenset[Place]:
        """Return the records that are at the offsets of lost ones, in the final read or in a log."""
        others: set[Place] = set()
        for at, offset, _ in self.places:
            final = self.history.final.get(at)
            others |= {(at, offset, final.values[offset])} if final is not None and offset in final.values else set()
            others |= {(at, offset, log.held[offset][0]) for log in self.replicas.of(at) if offset in log.held}
        return frozenset(others - set(self.places))

    @property
    def offsets_taken(self) -> int:
        return len({(at, offset) for at, offset, _ in self.instead})

    @property
    def offsets(self) -> list[tuple[TopicPartition, int]]:
        return [(at, offset) for at, offset, _ in self.places]

    @property
    def evidence(self) -> dict[str, Any]:
        """Return the loss for programs: its counts, its extent, and the number of records that each log lacks."""
        return {
            "records": len(self.places),
            "acknowledged": len(self.acknowledged),
            "read": len(self.read),
            "read_by": sorted(set(self.read.values())),
            "extent": extent(self.offsets),
            "offsets_taken": self.offsets_taken,
            "absent_from_final_read": len(self._absent_at_end),
            "absent_from_logs": {name: lacks for name, (lacks, _) in self.logs.items() if lacks},
        }

    @cached_property
    def _absent_at_end(self) -> list[Place]:
        return [place for place in self.places if self.history.kept(place[0], place[2]) is False]

    def message(self) -> str:
        """Describe the records, the logs that lack them, and the next leader."""
        next_leader = successor(self.history, self.acknowledged)[1] if self.acknowledged else ""
        return f"{self._records()}{self._absent_from()}{self._held_by()}{self._taken()}{next_leader}"

    def _records(self) -> str:
        total, read, promised = len(self.places), len(self.read), len(self.acknowledged)
        count = f"{total} record{'s'[: total != 1]} ({named_places(self.offsets)})"
        are = "is" if total == 1 else "are"
        by = f"read by {_listed(sorted(set(self.read.values())))} before" if read else ""
        if promised == total:
            how_many = "" if read in (0, total) else f"{read} of them "
            return f"{count} acknowledged with acks=all {are} gone{', ' if read else ''}{how_many}{by}."
        known = [f"{promised} acknowledged with acks=all"] if promised else []
        known += [f"{read} {by}"] if read else []
        return f"{count} {are} gone{': ' if known else ''}{', '.join(known)}."

    def _absent_from(self) -> str:
        logs = [
            f"{name}{'' if lacks == of else f' ({lacks} of {of})'}" for name, (lacks, of) in self.logs.items() if lacks
        ]
        where = ["the final read"] if self._absent_at_end else []
        if logs:
            where.append(f"the log{'s'[: len(logs) != 1]} of {_listed(logs)}")
        return f" Absent from {' and '.join(where)}." if where else ""

    def _held_by(self) -> str:
        holders = [name for name, (lacks, _) in self.logs.items() if not lacks]
        return f" All there in the log{'s'[: len(holders) != 1]} of {_listed(holders)}." if holders else ""

    def _taken(self) -> str:
        return f" Other records are at {self.offsets_taken} of these offsets." if self.offsets_taken else ""


def one_loss(
    findings: Sequence[Finding], history: History, replicas: Replicas, missing: Iterable[Place]
) -> list[Finding]:
    """Return the findings with one that says the whole loss, and those that are parts of it named as such.

    `missing` are the committed records that a member of the last ISR lacks. They belong to the loss where no final read
    tells more.
    """
    lead = next((each for each in findings if _is_broken(each, (LossRole.LEAD,))), None)
    if lead is None:
        return list(findings)
    places = _places(history, missing)
    said = _said(lead, Loss(places, history, replicas)) if places else lead
    whole = extent((at, offset) for at, offset, _ in places) if places else lead.evidence["extent"]
    return [said if each is lead else _part(each, lead, whole) for each in findings]


def _places(history: History, missing: Iterable[Place]) -> tuple[Place, ...]:
    promises = [*gone_promises(history), *skipped_promises(history)]
    gone: set[Place] = {(each.at, each.offset, each.value) for each in promises}
    gone |= {(at, offset, value) for at, offset, value in vanished_records(history)}
    unread = {place for place in missing if place[0] not in history.final}
    return tuple(sorted(gone | unread)) if gone else ()


def _said(lead: Finding, loss: Loss) -> Finding:
    table = RecordTable(loss.history, loss.replicas)
    rows = sorted({*loss.places, *loss.instead}, key=lambda place: (place[0], place[1], table.epoch(place), place[2]))
    return replace(
        lead,
        message=loss.message(),
        evidence={**lead.evidence, "loss": loss.evidence},
        counterexample=table.of(rows, table.before(loss.places)),
    )


def _part(finding: Finding, lead: Finding, whole: Mapping[str, list[list[int]]]) -> Finding:
    is_part = _is_broken(finding, tuple(LossRole)) and within(finding.evidence["extent"], whole)
    return replace(finding, part_of=lead.check) if is_part else finding


def _is_broken(finding: Finding, roles: Container[LossRole]) -> bool:
    """Return whether the finding is a violation of a check in one of these roles.

    One of another package, or of what is not said of single records, has no extent.
    """
    is_violation = finding.verdict is Verdict.VIOLATION and "extent" in finding.evidence
    return is_violation and _roles().get(finding.check) in roles


@cache
def _roles() -> Mapping[str, LossRole | None]:
    return {check.name: each.loss for each in checkers() for check in each.checks}


def name_parts(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with each lead naming the rules of its parts.

    A part that was withdrawn or attributed in another way than its lead stands alone again.
    """
    findings = list(findings)
    leads = {each.check: each for each in findings if each.part_of is None}
    findings = [each if _shares_lead(each, leads) else replace(each, part_of=None) for each in findings]
    return [_naming(each, findings) for each in findings]


def _shares_lead(finding: Finding, leads: Mapping[str, Finding]) -> bool:
    lead = leads.get(finding.part_of or "")
    return lead is not None and (lead.verdict, lead.difference) == (finding.verdict, finding.difference)


def _naming(finding: Finding, findings: Sequence[Finding]) -> Finding:
    parts = [each.requirement for each in findings if finding.part_of is None and each.part_of == finding.check]
    rules = tuple(sorted({each for each in parts if each is not None} - {finding.requirement}))
    if not rules:
        return finding
    broken = f" It breaks {_listed(rules)}, too." if finding.verdict is Verdict.VIOLATION else ""
    return replace(finding, also=rules, message=f"{finding.message}{broken}")


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last

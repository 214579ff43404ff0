"""Nodes that were started, or went on after a stop, and neither served nor ended within the bound.

And nodes that were asked to end (SIGTERM), and went on for `ENDS_WITHIN` seconds.

That is a violation of LIVE-07, whatever the node found on its disk. It is not held against the target

- if it was asked for less than `ASKED` seconds, as the last of several nodes could be in earlier runs;
- if a node waited for a processor for a third of the bound (decision 0012);
- if the infrastructure failed, the log of the node names a want of the machine, or it is a ZooKeeper server;
- if it is a duplicate, has a duplicate that was started, or was started with a wrong identity;
- if a fault on it was active, or one on so many controllers or ZooKeeper servers that the others are no majority;
- if so many of these were down, paused or silent themselves, or had lost what they had promised to remember (LIVE-08).

All of these count from the second half of the bound on: what ended before left the node time enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from fencepost.faults.registry import names_in_family
from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.exits import FORGETS_NOTHING, OF_THE_MACHINE, damaged_files
from fencepost.harness.checkers.starvation import read_waits, starved
from fencepost.harness.checkers.voters import voters_change
from fencepost.harness.checkers.wrong_identity import started_with_wrong_identity
from fencepost.harness.plan.model import Plan
from fencepost.results.records.events import INFRASTRUCTURE, Event
from fencepost.results.records.fault_targets import FaultTargets
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

SILENT: Final = Check("silent-nodes", "A node neither serves nor ends", "LIVE-07", Basis.ABSENCE)

_SEEN_IN_PROCESSES = (
    names_in_family("processes") - {"late-bytes"} | names_in_family("identity") | {"damaged-file", "power-loss"}
)
"""The faults that keep nodes away by ending or stopping their processes, which the journal has by itself."""
ENDS_WITHIN = 60.0
"""Seconds for a node to hand over what it leads and end."""
ASKED: Final = 5.0
"""Seconds within which a node that serves answers on a busy machine."""
_OF_CLIENTS = ("the client ", "the probe ", "watching the cluster ")
"""How messages begin about clients that failed: that keeps no node from serving."""
_REACH = {
    "refused": "refuses connections",
    "closed": "closes each connection",
    "reset": "resets each connection",
    "silent": "takes connections and answers nothing",
}


@checker(SILENT, rank=82, every_run=True, rests_on=["node:ready"])
def check_silent_nodes(plan: Plan, journal: Journal) -> list[Finding]:
    """Return a finding for each node that did not come back; one that LIVE-07 held if all that were asked did."""
    run = _Run(plan, journal)
    silent: dict[tuple[str, float, str], Event] = {}
    for event in journal.of("node", "silent"):
        silent.setdefault((event.id, *run.went_on(event)), event)
    begun = run.begun
    again = sum(1 for each in journal.of("node", "ready") if each.t > begun)
    findings = [_finding(event, run) for event in silent.values()]
    findings += [_not_ended(event, run) for event in journal.of("node", "stopping") if run.goes_on(event)]
    if findings or not again:
        return findings
    return [SILENT.held(again, f"Each of {again} nodes that were started or went on answered within its bound.")]


def _finding(event: Event, run: _Run) -> Finding:
    seconds, error = event.data["seconds"], str(event.data.get("error", ""))
    reach, damaged = str(event.data.get("reach", "")), damaged_files(event, run.journal)
    why = f"The last error in its log: {error}" if error else "Its log has no error"
    on = damaged and f" after {damaged}"
    message = (
        f"{event.id} was {run.went_on(event)[1]}{on}, and neither serves nor ends within {seconds:g} s: it runs, and "
        f"{_REACH.get(reach, 'does not answer')} at {event.data.get('address')}. {why}."
    )
    columns = ("at s", "node", "waited s", "met", "damaged before its start", "last error in its log")
    row = (round(event.t, 3), event.id, seconds, reach, damaged, error)
    finding = SILENT.broken(1, message, columns, [row], at=event.t)
    reason = run.excuse(event)
    return finding.withdrawn(f"{reason}.") if reason else finding


def _not_ended(asked: Event, run: _Run) -> Finding:
    late = replace(asked, t=asked.t + ENDS_WITHIN, data={"seconds": ENDS_WITHIN})
    message = f"{asked.id} was asked to end (SIGTERM), and still runs after {ENDS_WITHIN:g} s."
    finding = SILENT.broken(1, message, ("asked at s", "node"), [(round(asked.t, 3), asked.id)], at=late.t)
    reason = run.excuse(late)
    return finding.withdrawn(f"{reason}.") if reason else finding


@dataclass(frozen=True)
class _Run:
    plan: Plan
    journal: Journal

    @property
    def begun(self) -> float:
        return min((event.t for event in self.journal.of("step", "begin")), default=inf)

    @property
    def governing(self) -> frozenset[str]:
        """The nodes of which a majority has to be there: those of the quorum, or of ZooKeeper's ensemble."""
        own = [node for node in self.plan.topology.nodes if node.duplicate_of is None]
        of = {role: frozenset(node.name for node in own if role in node.roles) for role in ("zookeeper", "controller")}
        return of["zookeeper"] or of["controller"]

    def went_on(self, event: Event) -> tuple[float, str]:
        """Return when the node was last started or resumed before the event, and which of the two."""
        of_node = self.journal.of("node", "started", "resumed")
        before = ((each.t, each.phase) for each in of_node if each.id == event.id and each.t <= event.t)
        return max(before, default=(-inf, "started"))

    def goes_on(self, asked: Event) -> bool:
        """Return whether a node ran on for `ENDS_WITHIN` seconds after SIGTERM, and was not stopped meanwhile."""
        until = asked.t + ENDS_WITHIN
        met = {each.phase for each in self.journal.of("node") if each.id == asked.id and asked.t < each.t <= until}
        return self.journal.duration >= until and not met & {"stopped", "exited", "killed", "paused"}

    def excuse(self, silent: Event) -> str:
        """Return why the silence is not held against the target; empty if nothing explains it."""
        node = next((each for each in self.plan.topology.nodes if each.name == silent.id), None)
        if node is None or node.duplicate_of is not None or {"zookeeper", "service"} & set(node.roles):
            return "no rule says that such a node comes back"
        if found := OF_THE_MACHINE.search(str(silent.data.get("error", ""))):
            return f"its log says {found[0]!r}"
        failed = (e.data["message"] for e in self.journal.of("note") if e.data.get("what") == INFRASTRUCTURE)
        if failure := next((each for each in failed if not each.startswith(_OF_CLIENTS)), ""):
            return f"the infrastructure failed: {failure.rstrip('.')}"
        twins = {each.name for each in self.plan.topology.nodes if each.duplicate_of == silent.id}
        if any(event.id in twins and event.t <= silent.t for event in self.journal.of("node", "started")):
            return "a second process with its id was started"
        if started_with_wrong_identity(silent, self.journal):
            return "it was started with a wrong identity"
        seconds = float(silent.data["seconds"])
        if seconds < ASKED:
            return f"it was asked for {seconds:g} s only"
        if reason := starved(read_waits(self.journal), silent.t - seconds, silent.t, seconds):
            return reason.rstrip(".")
        return self._lacks(silent, silent.t - seconds / 2)

    def _lacks(self, silent: Event, since: float) -> str:
        """Return which fault kept the node, or a majority of those that govern, away until after `since`."""
        missing: dict[str, str] = {}
        for name, touched in self._active(since, silent.t):
            if not touched or silent.id in touched:
                return f"the fault {name} was active"
            missing |= dict.fromkeys(touched, f"the fault {name}")
        missing |= dict.fromkeys(self._away(silent, since), "their processes")
        missing |= dict.fromkeys(self._forgot(silent.t), "what they had lost")
        lost = sorted(missing.keys() & self.governing - {silent.id})
        majority = 2 * (len(self.governing) - len(lost)) > len(self.governing)
        if not lost or (majority and not voters_change(self.plan)):
            return ""
        causes = ", ".join(dict.fromkeys(missing[each] for each in lost))
        return f"without {', '.join(lost)} ({causes}) the others are no majority"

    def _active(self, since: float, until: float) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the faults on links, disks, clocks and machines that were in effect between, with what they touch."""
        for intent in self.journal.of("fault", "intent"):
            if intent.t > until or intent.data.get("fault") in _SEEN_IN_PROCESSES:
                continue
            over = ("healed", "unhealed") if intent.data.get("fault") == "late-bytes" else ("recovering",)
            lifted = min((e.t for e in self.journal.of("fault", *over) if e.id == intent.id), default=inf)
            if lifted > since:
                yield intent.id, FaultTargets.of(intent.data).touched

    def _away(self, silent: Event, since: float) -> Iterator[str]:
        """Yield the nodes that did not run, or were silent themselves, at some time between."""
        for node in self.governing:
            of_node = [event for event in self.journal.of("node") if event.id == node and event.phase != "intent"]
            before = [event for event in of_node if event.t <= silent.t]
            runs = bool(before) and before[-1].phase in ("started", "ready", "resumed")
            came = max((event.t for event in before if event.phase in ("started", "resumed")), default=inf)
            answers = next((event.phase for event in of_node if event.t > came and event.phase != "started"), "")
            if not runs or came > since or answers == "silent":
                yield node

    def _forgot(self, until: float) -> frozenset[str]:
        """Return the nodes of which a fault took away what they had promised to remember."""
        return frozenset().union(
            *(
                FaultTargets.of(intent.data).touched
                for intent in self.journal.of("fault", "intent")
                if intent.t <= until and intent.data.get("fault") not in FORGETS_NOTHING
            )
        )

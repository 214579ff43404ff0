"""Nodes that end by themselves, or not as they were asked to: by their own doing, by the machine's, or over a fault.

- No finding: a step waits for the end, the node's disk is broken or was at its start, it was started with a wrong
  identity, or it is a duplicate, which may be refused for good.
- A violation of LIVE-07: nothing explains the end. It stands above all else that ended, since the run that follows may
  have failed over it. So is an end over a broken disk or a wrong identity without any reason in the log.
- Infrastructure: the machine may have ended the node (SIGKILL, no memory, no space, an address in use), it is a
  ZooKeeper server, or no step had begun: a target that never came up shows nothing of its rules. So is an end that a
  fault may explain: no rule says what a node must bear, but a run with a crash proves nothing.

A fault may explain the end of a process if it was not healed by then, and names the node or a link of it; but a node
that was only killed, or lost its power, has to start again. So may a second process with its id. A fault that takes
away what a node had promised to remember may explain the end of any process that was started before it was healed. A
process that ended before it was ready may have lacked other nodes that a fault kept away. A node that got SIGTERM and
ended with an exit code that does not answer it (`ORDERLY`) is judged as one that ended by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import inf
from signal import SIGKILL
from typing import Final

from fencepost.faults.capabilities import ORDERLY, exit_in_words
from fencepost.faults.registry import names_in_family
from fencepost.harness.checkers.check import Check, RunCheck
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.wrong_identity import started_with_wrong_identity
from fencepost.harness.plan.conditions.node_exited import NodeExited
from fencepost.harness.plan.model import Plan
from fencepost.results.records.events import Event
from fencepost.results.records.fault_targets import FaultTargets
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding, Verdict

EXITS: Final = Check("node-exits", "A node ended by itself", "LIVE-07", Basis.ABSENCE)
NODES: Final = RunCheck(
    "nodes", "No node ended by itself over a fault or over the machine. Else the run is infrastructure."
)

_OF_DISKS = names_in_family("disks")
_ENDS_PROCESSES = frozenset({"kill", "terminate", "crash-loop", "rolling-restart", "power-loss"})
"""The faults after which a node has to start again, with what it had made durable."""
FORGETS_NOTHING = frozenset(
    {
        *names_in_family("links"),
        *names_in_family("clock"),
        *names_in_family("containers"),
        *names_in_family("messages"),
        *names_in_family("users"),
        *_ENDS_PROCESSES,
        *("expired-certificate", "foreign-certificate", "renewed-certificate"),
        *("pause", "late-bytes", "disk-error", "disk-full", "disk-read-only", "disk-slow"),
    }
)
"""The faults after which each node still knows what it had made durable."""
OF_THE_MACHINE = re.compile(
    r"address already in use|cannot allocate memory|insufficient memory|OutOfMemory|no space left|too many open files"
    r"|cannot start new thread|unable to create (new )?native thread",
    re.IGNORECASE,
)


@checker(EXITS, NODES, rank=81, every_run=True, rests_on=["node:started"], counts=["node:started"])
def check_exits(plan: Plan, journal: Journal) -> list[Finding]:
    """Return a finding for each node that ended by itself and must not; one that LIVE-07 held if there is none."""
    seen = (event for event in journal.of("node", "started") if event.data.get("pid", 0) is not None)  # not elsewhere
    started = {event.node or event.id for event in seen}
    held = EXITS.held(len(started), f"None of the {len(started)} nodes ended by itself without a cause.")
    return [_finding(event, reason, journal) for event, reason in _exits(plan, journal)] or [held]


def unexplained_exits(plan: Plan, journal: Journal) -> Iterator[Event]:
    """Yield the end of each node that ended by itself without a cause."""
    yield from (event for event, reason in _exits(plan, journal) if not reason)


def _exits(plan: Plan, journal: Journal) -> Iterator[tuple[Event, str]]:
    """Yield each end that must not be, with the reason why it is not held against the target, if there is one."""
    ends = {event.id: event for event in journal.of("step", "end")}
    twins = {node.name for node in plan.topology.nodes if node.duplicate_of is not None}
    awaited = {
        _awaited(step, ends.get(plan.step_name(place)), ends): step.code
        for place, step in enumerate(plan.steps)
        if isinstance(step, NodeExited)
    }
    for event in journal.of("node", "exited", "stopped"):
        code = event.data.get("exit_code")
        orderly = code in (*ORDERLY, awaited.get(event.id)) or bool(event.data.get("orderly"))
        expected = orderly if event.phase == "stopped" else event.id in awaited
        if event.id in twins or expected:
            continue
        if not (_ended_over_disk(event, journal) or started_with_wrong_identity(event, journal)):
            yield event, _reason(event, plan, journal)
        elif event.data.get("error", "unknown") == "":
            yield event, _of_the_machine(event)


def _finding(exited: Event, reason: str, journal: Journal) -> Finding:
    code, error = exited.data.get("exit_code"), exited.data.get("error")
    message = str(exited.data.get("message") or f"{exited.id} ended with {exit_in_words(code)}.")
    if reason:
        return Finding(
            Verdict.INFRASTRUCTURE,
            check=NODES.name,
            title=EXITS.anomaly,
            message=f"{message} Not held against it: {reason}.",
            at=exited.t,
        )
    how = "Asked to end (SIGTERM)," if exited.phase == "stopped" else "Without a cause"
    damaged = damaged_files(exited, journal)
    row = (round(exited.t, 3), exited.id, code, damaged, error or "")
    columns = ("at s", "node", "exit code", "damaged before its start", "last error in its log")
    ended, lines, tail = message.rstrip(".").partition("; the last lines of ")
    why = f"The last error in its log: {error}" if error else "Its log has no reason for it"
    ended = f"{how} {ended}{damaged and f', after {damaged}'}."
    if error is None:  # a journal of an earlier version
        return EXITS.broken(1, f"{ended[:-1]}{lines}{tail}.", columns, [row], at=exited.t)
    return EXITS.broken(1, f"{ended} {why}.{tail and f' The last lines of {tail}'}", columns, [row], at=exited.t)


def damaged_files(event: Event, journal: Journal) -> str:
    """Return which files of the node a fault had damaged before, in words; empty if none."""
    damages: dict[str, str] = {}
    files: dict[str, str] = {}
    for fault in journal.of("fault", "intent", "proven"):
        if fault.t > event.t:
            break
        params = fault.data.get("params") or {}
        damage = "stale" if fault.data.get("fault") == "stale-blocks" else str(params.get("damage", ""))
        if fault.phase == "intent" and damage and event.id in FaultTargets.of(fault.data).nodes:
            damages[fault.id] = damage
        elif fault.phase == "proven" and fault.id in damages:
            had, has = (fault.data.get("measured", {}).get(key, {}) for key in ("had", "has"))
            for path in sorted(path for path in had if has.get(path) != had[path]):
                files[path] = damages[fault.id]
    named = [f"{path} was {damage}" for path, damage in files.items()]
    more = f" (and {len(named) - 1} more)" if len(named) > 1 else ""
    return f"{named[-1]}{more}" if named else ""


def _reason(exited: Event, plan: Plan, journal: Journal) -> str:
    """Return why the end is not held against the target; empty if nothing explains it."""
    roles = next((node.roles for node in plan.topology.nodes if node.name == exited.id), ())
    if of_machine := _of_the_machine(exited):
        return of_machine
    if "zookeeper" in roles:
        return "it is a ZooKeeper server"
    if "service" in roles:
        return "it is a service"
    if not any((event.node or event.id) == exited.id for event in journal.of("node", "started")):
        return "the journal does not have its start"
    if exited.t < min((event.t for event in journal.of("step", "begin")), default=inf):
        return "no step had begun"
    twins = {node.name for node in plan.topology.nodes if node.duplicate_of == exited.id}
    if any((event.node or event.id) in twins and event.t <= exited.t for event in journal.of("node", "started")):
        return "a second process with its id was started"
    fault = next(_faults(exited, journal), None)
    return f"the fault {fault} may explain it" if fault else ""


def _of_the_machine(exited: Event) -> str:
    if exited.data.get("exit_code") in (-SIGKILL, 128 + SIGKILL):
        return "it was ended by SIGKILL, as a machine without memory ends processes"
    found = OF_THE_MACHINE.search(str(exited.data.get("message", "")))
    return f"its log says {found[0]!r}" if found else ""


def _faults(exited: Event, journal: Journal) -> Iterator[str]:
    """Yield the faults that may explain the end."""
    of_node = [event for event in journal.of("node") if (event.node or event.id) == exited.id and event.t <= exited.t]
    since = max((event.t for event in of_node if event.phase == "started"), default=-inf)
    was_ready = any(event.phase == "ready" and event.t >= since for event in of_node)
    healed = {event.id: event.t for event in journal.of("fault", "healed")}
    for event in journal.of("fault", "intent"):
        if event.t > exited.t or healed.get(event.id, inf) < since:
            continue
        named, fault = FaultTargets.of(event.data).touched, event.data.get("fault")
        is_over = healed.get(event.id, inf) <= exited.t
        hit = not named or (exited.id in named and fault not in _ENDS_PROCESSES)
        lacked_others = not was_ready and bool(named - {exited.id})
        if (hit and not is_over) or lacked_others or fault not in FORGETS_NOTHING:
            yield event.id


def _awaited(step: NodeExited, end: Event | None, ends: Mapping[str, Event]) -> str:
    """Return the node that the step waited for, or the one that the plan names if the step did not end."""
    if end is not None and "node" in end.data:
        return str(end.data["node"])
    bound = ends.get(step.node.removeprefix("$"))
    return str(bound.data.get("bound", "")) if bound and step.node.startswith("$") else step.node


def _ended_over_disk(exited: Event, journal: Journal) -> bool:
    """Return whether the node's disk was broken, or had been until after its start: a node may end over that."""
    broken: set[str] = set()
    started = -inf
    for event in journal.of("node", "started"):
        if event.id == exited.id and event.t <= exited.t:
            started = event.t
    for event in journal.of("fault", "intent", "healed"):
        hit = event.data.get("params", {}).get("node") if event.data.get("fault") in _OF_DISKS else None
        if event.t <= exited.t and hit == exited.id:
            broken.add(event.id)
        elif event.phase == "healed" and event.t <= started:
            broken.discard(event.id)
    return bool(broken)

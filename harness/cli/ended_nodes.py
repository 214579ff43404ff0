"""Nodes of an interactive cluster that ended and that no fault brings back, and their next start."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from fencepost.faults.capabilities import CapabilityError, Running, exit_in_words
from fencepost.faults.processes.process_fault import READY_TIMEOUT_S
from fencepost.harness.engine.context import Context
from fencepost.harness.engine.errors import StepError
from fencepost.harness.errors import UsageError


def ended_nodes(context: Context) -> tuple[str, ...]:
    """Return the nodes that ended, in the order of the plan, without those that an active fault restarts.

    Duplicates are left out: a fault starts and ends them, and a refused one ends by itself.
    """
    held = {node for fault in context.active_faults.by_name.values() for node in fault.nodes()}
    own = (node.name for node in context.plan.topology.nodes if node.duplicate_of is None)
    return tuple(name for name in own if name not in held and _state(context, name) is Running.EXITED)


def how_it_ended(context: Context, node: str) -> str:
    """Return a message with the node's exit code and, unless a signal ended it, the last line of its log."""
    processes = context.cluster.processes
    exit_code = processes.status(node).exit_code
    lines = [] if (exit_code or 0) < 0 else [line.strip() for line in processes.said(node) if line.strip()]
    last = f": {lines[-1]}" if lines else ""
    return f"{node} ended with {exit_in_words(exit_code)}{last}"


def start_nodes(context: Context, references: Sequence[str]) -> list[str]:
    """Start ended nodes on the data that they left, wait until each answers a request, and return their names.

    Without references, start all of `ended_nodes`. Raise UsageError for a node that runs, that is a duplicate, that an
    active fault holds, or that does not come back.
    """
    names = _named(context, references) if references else ended_nodes(context)
    if refused := [reason for name in names if (reason := _refusal(context, name))]:
        raise UsageError("; ".join(refused))
    if not names:
        return []
    with ThreadPoolExecutor(max_workers=len(names)) as pool:  # at once, because the nodes may need each other
        failures = [failure for failure in pool.map(lambda name: _start(context, name), names) if failure]
    if failures:
        raise UsageError("\n".join(failures))
    return list(names)


def _named(context: Context, references: Sequence[str]) -> tuple[str, ...]:
    known = {node.name for node in context.plan.topology.nodes}
    try:
        names = context.references.nodes(tuple(references))
    except StepError as error:
        raise UsageError(str(error)) from error
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"there is no node {', '.join(unknown)}: the nodes are {', '.join(sorted(known))}")
    return names


def _refusal(context: Context, name: str) -> str | None:
    original = context.plan.node(name).duplicate_of
    if original is not None:
        return f"{name} is a duplicate of {original}: start it with `fencepost inject duplicate --node {name}`"
    for fault, active in context.active_faults.by_name.items():
        if name in active.nodes():
            return f"the fault {fault} holds {name}: `fencepost heal {fault}` brings it back"
    if (state := _state(context, name)) in (Running.RUNNING, Running.PAUSED):
        return f"{name} is {state.value}: only a node that ended can be started"
    return None


def _start(context: Context, name: str) -> str | None:
    """Start a node; return a message if it does not come back."""
    processes = context.cluster.processes
    try:
        processes.start(name)
        processes.await_ready(name, READY_TIMEOUT_S)
    except CapabilityError as error:
        faults = context.active_faults.by_name.items()
        on_its_disk = [fault for fault, active in faults if active.targets().get("node") == name]
        hint = f"\nit is still broken by {', '.join(on_its_disk)}: heal that first" if on_its_disk else ""
        return f"{name} did not come back: {error}{hint}"
    return None


def _state(context: Context, name: str) -> Running:
    return context.cluster.processes.status(name).running

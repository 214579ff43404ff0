"""Lanes of the story itself: its steps, and its faults from the order to the proof of healing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.plan.base import Level
from harness.plan.model import Plan
from harness.plan.steps import Step
from harness.report.shapes import Bars, Caption, Segment
from results.records.events import Event
from results.records.journal import Journal

MOST_NAMES = 3
"""Nodes of a fault that are named; more are counted."""

_OPEN = ("intent", "injected", "proven", "unproven")


def step_lane(plan: Plan, journal: Journal) -> Bars:
    """The steps one after another; the kind tells those that missed."""
    begun = {event.id: event.t for event in journal.of("step", "begin")}
    ended = {event.id: event for event in journal.of("step", "end")}
    segments = []
    for index, step in enumerate(plan.steps):
        name = plan.step_name(index)
        if name not in begun:
            continue
        end = ended.get(name)
        outcome = str(end.data.get("outcome", "ended")) if end else "not ended"
        kind = "step" if outcome in ("done", "ended") or (outcome == "missed" and may_miss(step)) else "missed"
        until = end.t if end else journal.duration
        tip = f"{name} ({step.do}): {outcome}, {begun[name]:.2f} to {until:.2f} s"
        segments.append(
            Segment(begun[name], until, kind, (f"{step.do} {name}" if step.as_ else step.do, name, step.do), tip)
        )
    return Bars("steps", f"{len(segments)} of {len(plan.steps)}", tuple(segments))


def may_miss(step: Step) -> bool:
    """What the step waits for is claimed never to come, or may stay away: nothing is wrong when it does."""
    expect = getattr(step, "expect", None)
    return expect is not None and expect.level is not Level.MUST


def fault_lanes(journal: Journal) -> Iterator[Bars]:
    """One lane a fault. While it works is solid; the time to take effect and to heal is pale."""
    for name, events in _by_fault(journal).items():
        at = {event.phase: event.t for event in reversed(events)}
        subject = describe(name, next((event.data for event in events if event.phase == "intent"), {}))
        stages = [("intent", "ordered"), ("proven", "proven"), ("unproven", "NOT PROVEN"), ("healed", "healed")]
        stages.append(("unhealed", "NOT HEALED"))
        times = " · ".join(f"{word} {at[phase]:.2f}" for phase, word in stages if phase in at)
        how = "; ".join(f"{event.phase}: {event.data['how']}" for event in events if event.data.get("how"))
        segments = tuple(_segments(at, journal.duration, subject, times, how))
        captions = (Caption(segments[0].start, segments[-1].end, times),)
        yield Bars(name, _kind(events), segments, captions=captions)


def bands(journal: Journal) -> Iterator[Segment]:
    """When each broken link was known to be broken: what crosses the lanes. Other faults show on their node's lane."""
    for name, events in _by_fault(journal).items():
        at = {event.phase: event.t for event in reversed(events)}
        if "proven" in at and any(event.data.get("links") for event in events):
            yield Segment(at["proven"], at.get("recovering", journal.duration), "band", (name,))


def describe(name: str, intent: Mapping[str, Any]) -> str:
    """A fault in few words: what, and at whom."""
    what = str(intent.get("fault", name))
    params = intent.get("params", {})
    if "to" in params:
        return f"{what} {_names(params.get('from') or params['node'])} → {_names(params['to'])}"
    nodes = params.get("nodes") or params.get("node") or intent.get("nodes") or ()
    if "from" in params:
        inside = {nodes} if isinstance(nodes, str) else set(nodes)
        return f"{what} {_names(nodes)} from {_names([other for other in params['from'] if other not in inside])}"
    return f"{what} {_names(nodes)}".strip()


def _names(nodes: str | Sequence[str]) -> str:
    if isinstance(nodes, str):
        return nodes
    return ", ".join(nodes) if len(nodes) <= MOST_NAMES else f"{len(nodes)} nodes"


def _by_fault(journal: Journal) -> dict[str, list[Event]]:
    faults: dict[str, list[Event]] = {}
    for event in journal.of("fault"):
        faults.setdefault(event.id, []).append(event)
    return faults


def _kind(events: list[Event]) -> str:
    return next((str(event.data["fault"]) for event in events if "fault" in event.data), "fault")


def _segments(at: Mapping[str, float], duration: float, subject: str, times: str, how: str) -> Iterator[Segment]:
    begun = min((at[phase] for phase in _OPEN if phase in at), default=0.0)
    works = at.get("proven")
    recovering = at.get("recovering", duration)
    over = at.get("healed", duration if "unhealed" in at or "recovering" not in at else at["recovering"])
    tip = f"{subject}: {times} s. {how}"
    if works is None:
        yield Segment(begun, over, "doubtful", (subject, "?"), tip)
        return
    yield Segment(begun, works, "pending", (), tip)
    yield Segment(works, recovering, "fault", (subject,), tip)
    if over > recovering:
        yield Segment(recovering, over, "pending" if "healed" in at else "doubtful", (), tip)

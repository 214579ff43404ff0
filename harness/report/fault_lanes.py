"""Lanes of the scenario: its steps, and its faults from the request to the proof of healing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fencepost.harness.plan.base import Level
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.steps import Step
from fencepost.harness.report.shapes import Bars, Caption, Segment
from fencepost.results.records.events import Event
from fencepost.results.records.journal import Journal

MOST_NAMES = 3
"""Nodes of a fault that are named; of more only the number is shown."""

MOST_LANES = 12
"""Faults that have a lane each."""

_STAGES = {"proven": "proven", "unproven": "NOT PROVEN", "healed": "healed", "unhealed": "NOT HEALED"}
_OPEN = ("intent", "injected", "proven", "unproven")


def step_lane(plan: Plan, journal: Journal, titles: Mapping[str, str]) -> Bars:
    """Return the lane of the steps, with their titles. A step that missed its deadline has its own kind."""
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
        title = titles[name].replace("`", "")
        segments.append(Segment(begun[name], until, kind, (title, name, step.do), f"{title} ({name}): {outcome}"))
    return Bars("steps", f"{len(segments)} of {len(plan.steps)}", tuple(segments))


def may_miss(step: Step) -> bool:
    """Return whether the step may miss its condition: it is claimed never to come true, or it is optional."""
    expect = getattr(step, "expect", None)
    return expect is not None and expect.level is not Level.MUST


def fault_lanes(journal: Journal) -> Iterator[Bars]:
    """Yield one lane for each fault, or for each kind of fault if there are many.

    A fault is solid while it is in effect, and pale while it takes effect or heals.
    """
    faults = _by_fault(journal)
    lanes = [_fault_lane(name, events, journal.duration) for name, events in faults.items()]
    if len(lanes) <= MOST_LANES:
        yield from lanes
        return
    by_kind: dict[str, list[Bars]] = {}
    for lane in lanes:
        by_kind.setdefault(lane.note, []).append(lane)
    for kind, same in by_kind.items():
        segments = sorted((segment for lane in same for segment in lane.segments), key=lambda segment: segment.start)
        captions = tuple(caption for lane in same for caption in lane.captions)
        yield Bars(kind, f"{len(same)} fault{'s'[: len(same) != 1]}", tuple(segments), captions=captions)


def _fault_lane(name: str, events: list[Event], duration: float) -> Bars:
    at = {event.phase: event.t for event in reversed(events)}
    subject = describe(name, next((event.data for event in events if event.phase == "intent"), {}))
    times = " · ".join(f"{word} {at[phase]:.2f}" for phase, word in _STAGES.items() if phase in at)
    how = "; ".join(f"{event.phase}: {event.data['how']}" for event in events if event.data.get("how"))
    segments = tuple(_segments(at, duration, f"{subject}. {how}".rstrip(". ")))
    texts = (f"{subject} · {times}", subject, name) if times else (subject, name)
    return Bars(name, _kind(events), segments, captions=(Caption(segments[0].start, segments[-1].end, texts),))


def bands(journal: Journal) -> Iterator[Segment]:
    """Yield the times of broken links, which are shaded across all lanes. Other faults show on a node's lane."""
    for name, events in _by_fault(journal).items():
        at = {event.phase: event.t for event in reversed(events)}
        if "proven" in at and any(event.data.get("links") for event in events):
            yield Segment(at["proven"], at.get("recovering", journal.duration), "band", (name,))


def describe(name: str, intent: Mapping[str, Any]) -> str:
    """Return the kind of a fault and its targets, in a few words."""
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


def _segments(at: Mapping[str, float], duration: float, tip: str) -> Iterator[Segment]:
    begun = min((at[phase] for phase in _OPEN if phase in at), default=0.0)
    works = at.get("proven")
    recovering = at.get("recovering", duration)
    over = at.get("healed", duration if "unhealed" in at or "recovering" not in at else at["recovering"])
    if works is None:
        yield Segment(begun, over, "doubtful", (), tip)
        return
    yield Segment(begun, works, "pending", (), tip)
    yield Segment(works, recovering, "fault", (), tip)
    if over > recovering:
        yield Segment(recovering, over, "pending" if "healed" in at else "doubtful", (), tip)

"""Too few alive: a record was acknowledged at acks=all while fewer of its replicas ran than min.insync.replicas.

The journal has the ISR as it was seen, and a leader may go by an older one while no newer one reached it. So ISR-08
is judged by what follows from it, whatever a leader believes: each of the replicas that have to hold the record fetched
it between the send and its acknowledgement, and so its process ran at some time between. A process that is paused or
cut off counts as one that runs. Topics whose replicas or settings steps change are left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Final

from fencepost.harness.checkers.assignments import fixed_replicas
from fencepost.harness.checkers.check import Check
from fencepost.harness.checkers.checker import checker
from fencepost.harness.checkers.history import History, SendOutcome
from fencepost.harness.checkers.topics_at_end import TopicsAtEnd
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps.znode import ZnodeStep
from fencepost.results.records.journal import Journal
from fencepost.results.records.verdict import Basis, Finding

CHECK: Final = Check("too-few-alive", "A record was acknowledged with too few replicas", "ISR-08", Basis.PRESENCE)

MIN_ISR: Final = "min.insync.replicas"
_CONFIGS: Final = "/config/"
_ENDED: Final = frozenset({"killed", "exited", "stopped"})
Lives = Mapping[int, Sequence[tuple[float, float]]]


@checker(CHECK, rank=63, rests_on=["op:send"])
def too_few_alive(plan: Plan, journal: Journal, history: History, topics: TopicsAtEnd) -> Finding:
    """Judge each answer to a send while too few replicas ran. Linear in sends, times the starts of a broker."""
    needed = dict(_needed(plan))
    replicas = {at: ids for at, ids in fixed_replicas(plan, topics).items() if at[0] in needed}
    lives = read_lives(plan, journal)
    judged, rows, first = 0, [], inf
    for send in history.sends:
        if send.acks != "all" or send.completed is None or send.partition is None:
            continue
        of = replicas.get((send.topic, send.partition), ())
        ran = [id for id in of if any(a <= send.completed and b >= send.invoked for a, b in lives.get(id, ()))]
        if not of or len(ran) >= needed[send.topic]:
            continue
        judged += 1
        if send.outcome is SendOutcome.OK:
            where, times = f"{send.topic}-{send.partition}", (f"{send.invoked:.2f} s", f"{send.completed:.2f} s")
            rows.append((where, send.offset, send.value, *times, ", ".join(map(str, ran)), needed[send.topic]))
            first = min(first, send.completed)
    if not rows:
        return CHECK.held(judged, f"None of {judged} records sent while too few replicas ran was acknowledged.")
    return CHECK.broken(
        judged,
        f"{len(rows)} records were acknowledged at acks=all with fewer replicas that ran than {MIN_ISR} (the first to "
        f"{rows[0][0]}: of {rows[0][-1]}, {rows[0][5] or 'none'} ran).",
        ("partition", "offset", "record", "sent", "acknowledged", "replicas that ran", MIN_ISR),
        rows,
        at=first,
    )


def _needed(plan: Plan) -> Iterator[tuple[str, int]]:
    """Yield min.insync.replicas of the topics that keep it throughout the run."""
    changed = set(_changed(plan))
    for topic in plan.topics:
        if topic.config.get(MIN_ISR, "").isdigit() and not changed & {topic.name, None}:
            yield topic.name, int(topic.config[MIN_ISR])


def _changed(plan: Plan) -> Iterator[str | None]:
    """Yield the topics whose settings steps change; None if it may be any."""
    for step in plan.steps:
        if isinstance(step, ApiProbe) and step.api.endswith("alter_configs"):
            for resource in step.body.get("resources") or ():
                name = str(resource.get("resource_name"))
                yield None if name.startswith("$") else name
        elif isinstance(step, ZnodeStep) and step.path.startswith(_CONFIGS):
            yield None


def read_lives(plan: Plan, journal: Journal) -> Lives:
    """Return the times from the intent of a start to the end of the process, by broker id; a duplicate counts, too."""
    found: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for node in plan.topology.nodes:
        found[node.id] += _lives_of(node.name, journal)
    return found


def _lives_of(name: str, journal: Journal) -> Sequence[tuple[float, float]]:
    """Return the lives of a node; all of the time if the journal has no events of it."""
    events = [event for event in journal.of("node") if event.id == name]
    lives: list[tuple[float, float]] = []
    began: float | None = None if events else -inf
    for event in events:
        if event.phase not in _ENDED:
            began = event.t if began is None else began
        elif began is not None:
            lives.append((began, event.t))
            began = None
    return lives if began is None else [*lives, (began, inf)]

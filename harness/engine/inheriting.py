"""The knowledge that earlier plans left of a cluster that lives on, from which the model of the next run starts.

The next run gets the first and the last look of the plan before, and the requests of the last plans: those that were
not answered may be done yet, and groups, offsets and producers are known by their requests alone. Its journal has them,
so that it is judged by its folder alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from math import inf

from fencepost.harness.checkers.described import BEFORE, INHERITED, read_checkpoints, read_inherited, read_sent
from fencepost.harness.engine.describing import journal_look
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import Checkpoint, Description, Legacy, Sent
from fencepost.harness.plan.model import Plan
from fencepost.harness.plan.topic_changes import writes_znodes
from fencepost.results.records.journal import Journal, JournalWriter

PLANS = 2
"""The number of earlier plans whose requests are known. Topics of plans before those are deleted by then."""


def left_by(plan: Plan, journal: Journal, before: Legacy) -> Legacy:
    """Return what is known of the cluster after a run, in the times of that run. `before` was known when it began."""
    own = [look for look in read_checkpoints(journal) if not look.name.startswith(BEFORE)]
    looks = [own[0], own[-1]] if len(own) > 1 else own
    if writes_znodes(plan):
        looks = [replace(look, descriptions=tuple(_by_requests(look))) for look in looks]
    inherited = list(read_inherited(journal))
    requests = (
        *((age + 1, sent) for age, sent in inherited if age < PLANS),
        *((1, sent) for sent in read_sent(journal)),
    )
    forgotten = _made_by([sent for age, sent in inherited if age >= PLANS])
    looks = [replace(look, descriptions=tuple(_without(forgotten, look.descriptions))) for look in looks]
    return Legacy(requests, tuple(looks), before.of_clients.union(plan.groups, plan.transactional_ids))


def _made_by(requests: Sequence[Sent]) -> Mapping[str, frozenset[str]]:
    """Return the objects, by their kinds, that are known by these requests alone."""
    return {
        name: frozenset(
            effect.object for sent in requests if sent.api in kind.changed_by for effect in kind.effects(sent, ())
        )
        for name, kind in KINDS.items()
        if kind.begins_absent
    }


def _without(forgotten: Mapping[str, frozenset[str]], descriptions: Iterable[Description]) -> Iterator[Description]:
    """Yield the descriptions without objects whose requests the next run does not get: it would take them for new."""
    for each in descriptions:
        gone = forgotten.get(each.kind, frozenset())
        objects = {name: shown for name, shown in each.objects.items() if name not in gone}
        scope = None if each.scope is None else [name for name in each.scope if name not in gone]
        yield replace(each, objects=objects, scope=scope)


def _by_requests(look: Checkpoint) -> Iterator[Description]:
    """Yield the descriptions of kinds that requests alone change."""
    return (each for each in look.descriptions if not KINDS[each.kind].in_znodes)


def inherit(left: Legacy, seconds: float, journal: JournalWriter) -> Legacy:
    """Write what is known into the journal of a run that begins so many seconds later, and return it in its times."""
    requests = [(age, _earlier(sent, seconds)) for age, sent in left.requests]
    looks = [
        Checkpoint(f"{BEFORE}{number}", tuple(_described_earlier(each, seconds) for each in look.descriptions))
        for number, look in enumerate(left.looks, start=1)
    ]
    for number, (age, sent) in enumerate(requests):
        data = asdict(sent) | {"process": "requests", "f": INHERITED, "age": age}
        data["ended"] = None if sent.ended == inf else sent.ended
        journal.write("op", f"{INHERITED}-{number}", "ok", data, node=sent.node or None)
    for look in looks:
        journal_look(journal, look)
    return replace(left, requests=requests, looks=looks)


def _earlier(sent: Sent, seconds: float) -> Sent:
    return replace(sent, begun=round(sent.begun - seconds, 6), ended=round(sent.ended - seconds, 6))


def _described_earlier(each: Description, seconds: float) -> Description:
    return replace(each, begun=each.begun - seconds, ended=each.ended - seconds)

"""Checkpoints: everything that the nodes describe, held against what the requests must have led to."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from typing import Any

from fencepost.faults.capabilities import Running
from fencepost.harness.checkers.described import unstarved_looks
from fencepost.harness.checkers.starvation import read_waits
from fencepost.harness.clients.raw import NoAnswer, NotOffered, RawConnection
from fencepost.harness.engine.context import Context
from fencepost.harness.model.comparison import compare, objects_named
from fencepost.harness.model.kind import Asked, Kind, Question, Scope
from fencepost.harness.model.kinds import KINDS
from fencepost.harness.model.sent import WITHIN, Checkpoint, Description
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan import messages
from fencepost.harness.plan.topic_changes import writes_znodes
from fencepost.harness.wire.versions import Api
from fencepost.results.records.journal import JournalWriter, read_journal

DESCRIBE = "describe"
"""The `f` of these operations. `checkpoint`, `kind`, `scope`, `objects`, and the instants `begun` and `ended`."""
ANSWER_SECONDS = 2.0
TIMES = 6
"""The number of times in which nodes that lack a processor may come to describe what they owe."""
EVERY = 0.25
"""Seconds between two looks at a cluster that does not describe yet what it owes."""


def take_checkpoint(context: Context, name: str) -> Mapping[str, Any]:
    """Ask all running nodes, again until what they describe is right or the time is up; journal the last answers.

    The time begins again where a node lacked a processor in it, since such answers prove nothing. Return what the
    journal gets of the step.
    """
    within = WITHIN * context.cluster.target.file.timeout_factor
    deadline, last = time.monotonic() + within, time.monotonic() + TIMES * within
    before = _problems(context)
    while True:
        checkpoint = Checkpoint(name, tuple(_descriptions(context)))
        if _problems(context, checkpoint) == before or time.monotonic() >= last:
            break
        if time.monotonic() >= deadline:
            if unstarved_looks([checkpoint], read_waits(read_journal(context.journal.path))) == [checkpoint]:
                break
            deadline = time.monotonic() + within
        context.clock.sleep_until(time.monotonic() + EVERY)
    context.checkpoints.append(checkpoint)
    journal_look(context.journal, checkpoint)
    return {"described": sorted({each.kind for each in checkpoint.descriptions})}


def journal_look(journal: JournalWriter, look: Checkpoint) -> None:
    """Write the descriptions of one look."""
    for number, each in enumerate(look.descriptions):
        journal.write("op", f"{DESCRIBE}-{look.name}-{number}", "ok", as_data(look.name, each), node=each.node)


def as_data(checkpoint: str, description: Description) -> Mapping[str, Any]:
    """Return a description as the journal has it."""
    return {
        "process": "describer",
        "f": DESCRIBE,
        "checkpoint": checkpoint,
        "kind": description.kind,
        "objects": description.objects,
        "scope": description.scope,
        "begun": round(description.begun, 6),
        "ended": round(description.ended, 6),
    }


def _problems(context: Context, *more: Checkpoint) -> int:
    sent = list(context.clients.recorder.sent.values())
    return len(compare(sent, [*context.checkpoints, *more], writes_znodes(context.plan)).problems)


def _descriptions(context: Context) -> Iterator[Description]:
    topics: set[str] = set()
    for kind in KINDS.values():
        for node, listener in _nodes(context, kind):
            for description in _of_node(context, kind, node, listener, topics):
                if kind.name == "topics":
                    topics.update(description.objects)
                yield description


def _nodes(context: Context, kind: Kind) -> Iterator[tuple[str, Listener]]:
    """Yield the running nodes that the kind is asked of; no second process with the id of another."""
    of_brokers = kind.asked is Asked.BROKERS
    if kind.of_replicas and context.references.promises.replication != "isr":
        return
    for node in context.cluster.layout.nodes:
        plays = node.is_broker if of_brokers else node.is_controller
        running = context.cluster.processes.status(node.name).running is Running.RUNNING
        if plays and running and node.duplicate_of is None:
            yield node.name, Listener.CLIENT if of_brokers else Listener.CONTROLLER


def _of_node(
    context: Context, kind: Kind, node: str, listener: Listener, topics: Collection[str]
) -> Iterator[Description]:
    """Yield what a node describes. What it does not answer, or has no request for, is not judged."""
    now = context.journal.now
    scope = _scope(context, kind, node, topics)
    try:
        with context.clients.connect(node, listener, ANSWER_SECONDS) as connection:
            for question in kind.questions(scope):
                begun = now()
                try:
                    answer = _ask(connection, question)
                except NotOffered:
                    continue
                objects = kind.read(question, answer)
                if objects is not None:
                    yield Description(kind.name, node, objects, begun, now(), question.scope)
    except NoAnswer:
        return


def _scope(context: Context, kind: Kind, node: str, topics: Collection[str]) -> Scope:
    named = objects_named(list(context.clients.recorder.sent.values()), kind)
    plan = context.plan
    of_clients = context.legacy.of_clients.union(plan.groups, plan.transactional_ids)
    metadata_topic = context.cluster.target.file.dialect.metadata_topic
    return Scope(sorted(topics), plan.node(node).id, metadata_topic, sorted(set(named)), of_clients)


def _ask(connection: RawConnection, question: Question) -> Mapping[str, Any]:
    """Send a question in the newest version that both sides have, without the fields that this lacks."""
    known = messages.versions(question.api)
    high = known[-1] if question.newest is None else question.newest
    api = Api(messages.APIS[question.api], question.api, question.api, max(known[0], question.oldest), high)
    request, response = messages.payload_types(question.api, connection.newest_version(api))
    names = {field.name for field in fields(request)}
    body = {name: value for name, value in question.body.items() if name in names}
    answer: Any = connection.call(messages.build(request, body, lambda _: messages.UNKNOWN), response)
    described: Mapping[str, Any] = messages.plain(answer)
    return described

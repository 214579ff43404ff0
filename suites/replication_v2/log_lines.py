"""Log lines of brokers about state changes, and the requests that leaders put into queues (leader-driven targets)."""

from __future__ import annotations

from fencepost.suites import vocabulary as v


def completed(change: str, partition: str) -> str:
    """Match the line of a broker that carried out a request, whichever node sent it."""
    return rf"completed {change} for topic {_words(partition)},"


def received(change: str, partition: str) -> str:
    return rf"received {change} for topic {_words(partition)},"


def requested(change: str, partition: str, to: str) -> str:
    return rf"requested {change} for topic {_words(partition)}, to broker id {v.node_id(to)},"


def ignored(change: str, partition: str) -> str:
    return rf"ignored {change} for topic {_words(partition)},"


def reached(step: str, partition: str) -> str:
    """Match the line that a leader logs at a named step of a reassignment."""
    return rf"reassignment of topic {_words(partition)}, step {step},"


def saw_a_change(partition: str) -> str:
    return rf"saw a leader change of topic {_words(partition)}$"


def has_line(
    as_: str,
    node: str,
    line: str,
    expect: v.Expect,
    *,
    within_ms: int = v.LIVENESS_TIMEOUT_MS,
    after: str | None = None,
) -> v.Logged:
    """Wait for a line in the node's own log, from the start of the run or from the instant `after`."""
    since = None if after is None else {"event": after}
    return v.Logged.model_validate(
        {"as": as_, "node": node, "says": line, "within_ms": within_ms, "after": since, "expect": expect}
    )


def request(as_: str, to: str, change: str, partition: str, *, sender: str, epoch: int | str) -> v.Step:
    """Put a request into a broker's queue, as a leader does."""
    topic, _, index = partition.rpartition("-")
    data = f'{{"request":"{change}","topic":"{topic}","partition":{index},"epoch":{epoch},"from":{v.node_id(sender)}}}'
    path = f"/brokers/state/{v.node_id(to)}/request-"
    return v.ZnodeStep(as_=as_, action="create", path=path, data=data, sequence=True)


def _words(partition: str) -> str:
    topic, _, index = partition.rpartition("-")
    return f"{topic} partition {index}"

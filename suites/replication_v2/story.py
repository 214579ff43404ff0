"""How a story of this suite is told, and what its steps read in ZooKeeper and in the logs of brokers."""

from __future__ import annotations

from functools import partial

from harness.plan.base import Expect
from harness.plan.conditions import Logged, Znode
from harness.plan.steps import Step, ZnodeStep
from suites.building import LIVELY_MS
from suites.story import LEADER_DRIVEN, around_zookeeper

DOCUMENT = "Replication design V2"
PLAIN = ("plain",)
"""Leaders stay where they are."""

replication_v2 = partial(around_zookeeper, document=DOCUMENT, dialects=LEADER_DRIVEN, levels=PLAIN)


def number(node: str) -> int:
    return int(node.removeprefix("node-"))


def completed(change: str, partition: str) -> str:
    """What a broker logs that carried out a request, whoever sent it."""
    return rf"completed {change} for topic {_of(partition)},"


def received(change: str, partition: str) -> str:
    return rf"received {change} for topic {_of(partition)},"


def requested(change: str, partition: str, to: str) -> str:
    return rf"requested {change} for topic {_of(partition)}, to broker id {number(to)},"


def ignored(change: str, partition: str) -> str:
    return rf"ignored {change} for topic {_of(partition)},"


def reached(step: str, partition: str) -> str:
    """What a leader logs at each named step of a reassignment."""
    return rf"reassignment of topic {_of(partition)}, step {step},"


def saw_a_change(partition: str) -> str:
    return rf"saw a leader change of topic {_of(partition)}$"


def says(
    as_: str, node: str, line: str, expect: Expect, *, within_ms: int = LIVELY_MS, after: str | None = None
) -> Logged:
    """A line in the node's own log, since the run began or after an instant of it."""
    since = None if after is None else {"event": after}
    return Logged.model_validate(
        {"as": as_, "node": node, "says": line, "within_ms": within_ms, "after": since, "expect": expect}
    )


def request(as_: str, to: str, change: str, partition: str, *, sender: str, epoch: int | str) -> Step:
    """A request in a broker's queue, as a leader puts it there."""
    topic, _, index = partition.rpartition("-")
    data = f'{{"request":"{change}","topic":"{topic}","partition":{index},"epoch":{epoch},"from":{number(sender)}}}'
    path = f"/brokers/state/{number(to)}/request-"
    return ZnodeStep(as_=as_, action="create", path=path, data=data, sequence=True)


def gone(as_: str, path: str, expect: Expect) -> Step:
    return Znode(as_=as_, path=path, exists=False, within_ms=LIVELY_MS, expect=expect)


def there(as_: str, path: str, expect: Expect, *, has: str | None = None) -> Step:
    return Znode(as_=as_, path=path, has=has, within_ms=LIVELY_MS, expect=expect)


def _of(partition: str) -> str:
    topic, _, index = partition.rpartition("-")
    return f"{topic} partition {index}"

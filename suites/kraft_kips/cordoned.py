"""A cordoned log directory takes no new replica, and those that it has live on (KIP-1066)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fencepost.suites import vocabulary as v

CORDONED = "cordoned.log.dirs"
ALL = "*"
INVALID_REPLICATION_FACTOR = "error:38"
LEASE_MS = 4000


@v.kraft_scenario(
    "cordoned-log-dirs",
    "Cordoned directories take no new replica, also after a restart and under the next controller",
    seconds=30,
    document="KIP-1066",
    features={"cordoned-directories"},
)
def cordoned(draft: v.Draft) -> v.Plan:
    """One directory of a broker is cordoned, then the other, too; the broker crashes, and the active controller dies.

    The broker leads the topic of the workload all the time that it is up.
    """
    leader, *followers = draft.roles
    id, others = v.node_id(leader), sorted(map(v.node_id, followers))
    steps: list[v.Step] = [
        _directories("first", leader, cordoned=(False, False), binds={"directory": "results[0].log_dir"}),
        _set("cordon-one", leader, "$directory"),
        _directories("one-cordoned", leader, cordoned=(True, False)),
        _created("beside", "beside", [[id]] * 3, "served", "K1066-01"),
        _directories(
            "placed-beside",
            leader,
            cordoned=(True, False),
            also={
                "results[0].topics[name=beside].name": None,
                "results[1].topics[name=beside].partitions[].partition_index": [0, 1, 2],
            },
        ),
        _set("cordon-all", leader, ALL),
        _directories("all-cordoned", leader, cordoned=(True, True)),
        *_refused("cordoned", leader, others),
        v.goes_on("K1066-03", "LIVE-03"),
        v.LeaderIs(as_="leads", partition="t-0", is_=leader, expect=v.must("K1066-03")),
        v.inject("crash", v.KillParameters(nodes=leader)),
        v.LeaderIs(as_="succeeded", partition="t-0", is_not=leader, expect=v.must("LIVE-03")),
        v.Heal(as_="restart", fault="crash"),
        v.IsrIs(as_="returned", partition="t-0", has=leader, expect=v.must("K1066-03")),
        _directories("still-cordoned", leader, cordoned=(True, True)),
        v.Bind(as_="old", node="active-controller"),
        v.inject("depose", v.KillParameters(nodes="$old")),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("LIVE-02")),
        *_refused("remembered", leader, others),
        v.Heal(as_="all-back", fault="depose"),
        _set("uncordon", leader, None),
        _directories("none-cordoned", leader, cordoned=(False, False)),
        _awaited(_created("everywhere", "everywhere", 3, "served", "K1066-04")),
    ]
    return draft.timed(lease_ms=LEASE_MS).plan(
        steps, "placed-beside", v.acknowledged("all-back.ended"), topology=v.quorum_cluster(log_dirs=2)
    )


def _refused(when: str, broker: str, others: Sequence[int]) -> list[v.Step]:
    """Create topics with as many replicas as brokers, and with one less, while a broker's directories are cordoned."""
    return [
        _awaited(
            _created(f"{when}-known", f"{when}-full", 3, INVALID_REPLICATION_FACTOR, "K1066-02"), validate_only=True
        ),
        _created(f"{when}-full", f"{when}-full", 3, INVALID_REPLICATION_FACTOR, "K1066-02"),
        _created(f"{when}-less", f"{when}-less", 2, "served", "K1066-02"),
        v.listed_topics(
            f"{when}-elsewhere",
            broker,
            [f"{when}-less"],
            v.serves("K1066-02"),
            version=10,
            answer={"topics[0].partitions[0].replica_nodes[]": list(others)},
        ),
    ]


def _created(as_: str, topic: str, replicas: int | list[list[int]], outcome: str, requirement: str) -> v.ApiProbe:
    """Create a topic of one partition with so many replicas, or with these replicas of each partition."""
    new = v.new_topic(topic)
    if isinstance(replicas, int):
        new |= {"replication_factor": replicas}
    else:
        places = [{"partition_index": partition, "broker_ids": ids} for partition, ids in enumerate(replicas)]
        new |= {"num_partitions": -1, "replication_factor": -1, "assignments": places}
    body = {"topics": [new], "timeout": 5000}
    return v.ask(as_, "active-controller", "create_topics", body, v.answers(requirement, outcome))


def _awaited(creation: v.ApiProbe, **changes: bool) -> v.ApiProbe:
    """Ask until the answer is the one that is claimed: a broker tells the controller with its next heartbeat."""
    return creation.model_copy(update={"within_ms": v.LIVENESS_TIMEOUT_MS, "body": {**creation.body, **changes}})


def _set(as_: str, broker: str, directories: str | None) -> v.ApiProbe:
    """Cordon directories of a broker, or none."""
    id, served = str(v.node_id(broker)), v.serves("K1066-01")
    return v.configured(as_, broker, id, {CORDONED: directories}, of="broker", expect=served)


def _directories(
    as_: str,
    broker: str,
    *,
    cordoned: Sequence[bool],
    also: dict[str, Any] | None = None,
    binds: dict[str, str] | None = None,
) -> v.ApiProbe:
    """Await which directories of a broker are cordoned, and what else it says of them."""
    marks = {f"results[{place}].is_cordoned": marked for place, marked in enumerate(cordoned)}
    return v.described_log_dirs(
        as_,
        broker,
        v.serves("K1066-01"),
        {**marks, **(also or {})},
        version=5,
        within_ms=v.LIVENESS_TIMEOUT_MS,
        binds=binds or {},
    )

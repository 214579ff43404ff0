"""Snapshots of the metadata log: kill -9 while one is written, and a controller that is behind the log."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v
from fencepost.suites.kip_631.metadata_log import log_holds

CONTROLLERS = tuple(map(v.node_name, v.CONTROLLER_IDS))
SETTINGS = v.NodeSettings(
    controller={"metadata.snapshot.max.lag.records": "4", "controller.heartbeat.interval.ms": "200"}
)
"""A snapshot for every second topic."""
TOPIC = 2
"""Kafka's number of the resource type."""
LAST = "3600000"
ROUNDS = 3
"""Snapshots of the active controller while another is away: two are kept, so the older of the last two is newer than
the log of the one that is away."""


@v.scenario(
    "snapshot-fetched",
    "A controller whose next record is cut from the log catches up by a snapshot",
    seconds=15,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def behind_the_log(draft: v.Draft) -> v.Plan:
    """The active controller dies; its successor cuts the log behind it; it returns and catches up."""
    leader = draft.leader
    rounds: list[v.Step] = []
    for number in range(1, ROUNDS + 1):
        before = "elected.ended" if number == 1 else f"written-{number - 1}.ended"
        rounds += topics(f"round-{number}", leader)
        rounds.append(
            v.Logged(
                as_=f"written-{number}",
                node="$successor",
                says="wrote the snapshot at",
                after=v.After(event=before),
                expect=v.must("K631-25", "K631-24"),
            )
        )
    steps: list[v.Step] = [
        v.Bind(as_="old", node="active-controller"),
        v.inject("away", v.KillParameters(nodes="$old", back="running")),
        v.ActiveController(as_="elected", is_not="$old", expect=v.must("LIVE-02")),
        v.Bind(as_="successor", node="active-controller"),
        *_settings(leader),
        *rounds,
        *_fewest(),
        v.Heal(as_="restart", fault="away"),
        v.Logged(as_="fetched", node="$old", says="fetched the snapshot at", expect=v.must("D631-30", "K631-23")),
    ]
    return draft.plan(steps, "fetched", v.acknowledged("restart.ended"), settings=SETTINGS)


def _settings(broker: str) -> list[v.Step]:
    """Change one setting twice, and set and remove another, so that the log has more records than settings."""
    changes: tuple[dict[str, str | None], ...] = (
        {"retention.ms": "1"},
        {"retention.ms": LAST},
        {"segment.ms": "1"},
        {"segment.ms": None},
    )
    more: dict[str, Any] = {"validate_only": None, "within_ms": v.LIVENESS_TIMEOUT_MS, "expect": v.serves("ADM-04")}
    return [v.configured(f"setting-{number}", broker, "t", change, **more) for number, change in enumerate(changes, 1)]


def _fewest() -> list[v.Step]:
    """Expect one record in the snapshot of the active controller for each broker, topic, partition and setting."""
    of_topic = {"record": "ConfigRecord", "resource_type": TOPIC, "resource_name": "t"}
    once = {"broken[rule=fewest-records]": None}
    return [
        log_holds(
            "brokers", {"record": "BrokerRecord"}, {"snapshot[].broker_id": list(v.BROKER_IDS), **once}, "K631-22"
        ),
        log_holds(
            "topic",
            {"record": "TopicRecord", "name": "t"},
            {"snapshot[].deleting": [False]},
            "K631-22",
            binds={"t-id": "snapshot[0].topic_id"},
        ),
        log_holds(
            "partition", {"record": "PartitionRecord", "topic_id": "$t-id"}, {"snapshot[].partition_id": [0]}, "K631-22"
        ),
        log_holds(
            "settings",
            of_topic,
            {"snapshot[].name": ["min.insync.replicas", "retention.ms"], "snapshot[].value": ["2", LAST]},
            "K631-22",
        ),
    ]


@v.scenario(
    "snapshot-killed",
    "Controllers killed with kill -9 while a snapshot is written start from a whole one",
    seconds=15,
    dialects=frozenset({v.Dialect.KIP_631}),
)
def killed_while_writing(draft: v.Draft) -> v.Plan:
    """All controllers die when one of them begins a snapshot after earlier ones. They start from what is whole."""
    leader = draft.leader
    victim = CONTROLLERS[draft.seed % len(CONTROLLERS)]
    steps: list[v.Step] = [
        *topics("first", leader),
        # Topics after the first snapshot make a second one due; the log is cut behind the first then.
        v.Logged(as_="first-written", node=victim, says="wrote the snapshot at"),
        *topics("second", leader),
        v.Logged(as_="cut", node=victim, says="the metadata log is cut behind"),
        *topics("third", leader),
        v.inject(
            "kill",
            v.KillParameters(nodes=CONTROLLERS),
            when=v.LogLine(says="began to write the snapshot", node=victim, since="cut.ended"),
        ),
        v.Heal(as_="restart", fault="kill"),
        v.Logged(as_="loaded", node=victim, says="loaded the snapshot at", expect=v.must("K631-23", "D631-29")),
        *topics("after", leader),
    ]
    return draft.plan(steps, "loaded", v.acknowledged("restart.ended"), settings=SETTINGS)


def topics(name: str, broker: str) -> list[v.Step]:
    """Create three topics; each is at least two records."""
    return [
        v.TopicCreatedThrough(as_=f"{name}-{number}", node=broker, expect=v.must("LIVE-02")) for number in range(1, 4)
    ]

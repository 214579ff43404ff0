"""A controller takes the place of another while brokers and clients go on."""

from __future__ import annotations

from typing import Any

from fencepost.suites import vocabulary as v

BROKERS = tuple(map(v.node_name, v.BROKER_IDS))
JOINER = v.node_name(v.JOINER_ID)
LEASE_MS = 4000
"""Long enough for leases to outlive an election on a busy machine."""
USURPED_MS = 3000
"""Longer than a voter waits for its leader before it stands for election."""


def replaced(scenario: v.Scenario, target: v.TargetFacts, seed: int) -> v.Plan:
    """A fourth controller becomes a voter; one of the first three dies; all three are removed, the active one as well.

    At the end no controller that a broker's file names is needed: the other two of them die, too.
    """
    leader, *followers = v.replica_roles(scenario, seed)
    lost = v.CONTROLLER_IDS[seed % len(v.CONTROLLER_IDS)]
    others = [controller for controller in v.CONTROLLER_IDS if controller != lost]
    listener = {"name": "CONTROLLER", "host": JOINER, "port": v.PEER_PORT}
    steps = [
        *v.setup(leader),
        v.Start(as_="joins", nodes=JOINER),
        _change("added", "add_raft_voter", {"voter_id": v.JOINER_ID, "timeout": 10_000, "listeners": [listener]}),
        v.inject("dead", v.KillParameters(nodes=v.node_name(lost), back="running")),
        *(_change(f"removed-{id}", "remove_raft_voter", {"voter_id": id}) for id in (lost, *others)),
        v.ActiveController(
            as_="elected", is_=JOINER, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.must("LIVE-02", "K631-06", "K631-13")
        ),
        # The other two run on without a vote, and the one that has it sleeps.
        v.inject("asleep", v.PauseParameters(nodes=JOINER)),
        v.ActiveController(as_="usurped", is_not=JOINER, within_ms=USURPED_MS, expect=v.never("K631-02")),
        v.Heal(as_="awake", fault="asleep"),
        v.inject("gone", v.KillParameters(nodes=tuple(map(v.node_name, others)), back="running")),
        # The files of the brokers do not name the fourth controller.
        *(
            v.TopicCreatedThrough(
                as_=f"through-{broker}",
                node=broker,
                within_ms=v.LIVENESS_TIMEOUT_MS,
                expect=v.must("K631-06", "K631-05", "LIVE-02"),
            )
            for broker in BROKERS
        ),
        v.WorkloadAcks(as_="goes-on", more=20, within_ms=v.LIVENESS_TIMEOUT_MS, expect=v.must("LIVE-03")),
        *v.teardown(),
    ]
    return v.build_plan(
        scenario,
        target,
        seed,
        topology=v.growing_cluster(),
        timing=v.scaled_timing(target, lease_ms=LEASE_MS),
        topics=[v.topic([leader, *followers])],
        steps=steps,
        coverage=[
            v.FaultProven(fault="dead"),
            v.FaultProven(fault="asleep"),
            v.FaultProven(fault="gone"),
            v.StepDone(step="elected"),
            v.Acknowledged(by="p1", acks="all", after="elected.ended"),
        ],
    )


def _change(name: str, api: str, body: dict[str, Any]) -> v.ApiProbe:
    """Ask the active controller until the change is committed; a new one first has to commit in its own epoch."""
    return v.ApiProbe(
        as_=name,
        node="active-controller",
        api=api,
        version=0,
        body=body,
        timeout_ms=15_000,
        within_ms=v.LIVENESS_TIMEOUT_MS,
        expect=v.answers("K631-06", "served"),
    )


SCENARIOS = (
    v.Scenario(
        slug="controller-replaced",
        title="All controllers of the first quorum are replaced, one after the other, while brokers run",
        requirements=("K631-02", "K631-05", "K631-06", "K631-13", "LIVE-01", "LIVE-02", "LIVE-03"),
        needs=frozenset({v.Capability.KILL, v.Capability.PAUSE}),
        seconds=15,
        build=replaced,
        dialects=frozenset({v.Dialect.KIP_631}),
    ),
)

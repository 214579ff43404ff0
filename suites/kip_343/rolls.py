"""The double roll, forward and back, and the mixed clusters on its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.suites import vocabulary as v


@v.kip_343_scenario(
    "double-roll", "A cluster that is rolled from level to level under load loses nothing", seconds=32, levels=("base",)
)
def forward(draft: v.Draft) -> v.Plan:
    return _rolled(draft, draft.target.levels)


@v.kip_343_scenario(
    "double-roll-back",
    "A cluster that is rolled back from level to level under load loses nothing",
    seconds=32,
    levels=("base",),
)
def back(draft: v.Draft) -> v.Plan:
    return _rolled(draft, tuple(reversed(draft.target.levels)))


def _rolled(draft: v.Draft, levels: Sequence[str]) -> v.Plan:
    """Brokers roll one at a time, the controller last, from level to level, under load; nothing is lost."""
    leader, follower, controller = draft.roles
    requirements = ("K343-55", "K343-56")
    steps: list[v.Step] = []
    for level, requirement in zip(levels[1:], requirements, strict=False):
        for broker in (follower, leader, controller):
            steps += [
                v.Roll(as_=f"{level}-{broker}", node=broker, level=level),
                v.IsrIs(as_=f"{level}-{broker}-in-sync", partition="t-0", has=broker, expect=v.must(requirement)),
            ]
        steps.append(v.WorkloadAcks(as_=f"{level}-goes-on", more=20, expect=v.must(requirement)))
    return draft.timed(lag_ms=3000).plan(
        steps,
        f"{levels[-1]}-{controller}-in-sync",
        v.acknowledged(f"{levels[-1]}-{controller}.ended"),
        topology=v.zookeeper_cluster(
            controller=controller, levels={v.node_name(broker): levels[0] for broker in v.BROKER_IDS}
        ),
    )


@v.kip_343_scenario(
    "mixed-cluster-legacy-leader",
    "In a mixed cluster a legacy leader is never fenced, while an upgraded broker is",
    seconds=18,
)
def legacy_leader(draft: v.Draft) -> v.Plan:
    """The leader alone is at the earlier level: each broker is treated by the version that it registered with."""
    leader, raised, controller = draft.roles
    after = v.After(event="away.proven", plus_ms=draft.timing.fence_ms)
    steps: list[v.Step] = [
        v.inject("away", v.IsolateParameters(nodes=leader, from_=controller)),
        v.IsrIs(as_="shrunk", partition="t-0", lacks=controller, expect=v.must("K343-58")),
        v.Hold(as_="over", after="away.proven", ms=draft.timing.fence_ms),
        v.BrokerFenced(as_="inactive", node=leader, within_ms=300, expect=v.never("K343-62", "K343-61")),
        v.LeaderIs(as_="deposed", partition="t-0", is_not=leader, within_ms=300, expect=v.never("K343-62")),
        *v.service_probes("legacy", leader, v.serves("K343-57"), after=after),
        v.Heal(as_="mend", fault="away"),
        v.IsrIs(as_="rejoined", partition="t-0", has=controller, expect=v.must("ISR-06")),
        v.inject("silent", v.CutParameters(from_=raised, to=controller)),
        v.BrokerFenced(as_="given-up", node=raised, expect=v.must("K343-20", "K343-59")),
        v.BrokerFenced(as_="fenced", node=raised, by="itself", expect=v.must("K343-16")),
        v.goes_on(),
        v.Heal(as_="heard", fault="silent"),
        v.BrokerActive(as_="active", node=raised, expect=v.must("K343-21")),
        v.IsrIs(as_="in-sync", partition="t-0", has=raised, expect=v.must("D343-19")),
    ]
    return _mixed(draft, {leader: "base"}, steps, "legacy-produce")


@v.kip_343_scenario(
    "mixed-cluster-legacy-controller",
    "In a mixed cluster a controller at the earlier level accepts heartbeats and ISR changes",
    seconds=16,
)
def legacy_controller(draft: v.Draft) -> v.Plan:
    """The controller is at the earlier level, and accepts the others' heartbeats and ISR changes all the same."""
    leader, follower, controller = draft.roles
    steps: list[v.Step] = [
        v.inject("slow", v.StallParameters(from_=follower, to=leader)),
        v.IsrIs(as_="left", partition="t-0", lacks=follower, expect=v.must("D343-19")),
        v.BrokerFenced(as_="inactive", node=leader, within_ms=500, expect=v.never("D343-19")),
        v.Heal(as_="fast", fault="slow"),
        v.IsrIs(as_="rejoined", partition="t-0", has=follower, expect=v.must("D343-19")),
        v.inject("silent", v.CutParameters(from_=follower, to=controller)),
        v.BrokerFenced(as_="given-up", node=follower, expect=v.must("K343-20")),
        v.BrokerFenced(as_="fenced", node=follower, by="itself", expect=v.must("K343-16")),
        v.Heal(as_="heard", fault="silent"),
        v.BrokerActive(as_="active", node=follower, expect=v.must("K343-21")),
    ]
    return _mixed(draft, {controller: "base"}, steps, "active")


def _mixed(draft: v.Draft, levels: Mapping[str, str], steps: list[v.Step], done: str) -> v.Plan:
    """Build a plan in which some brokers have `levels` of their own, the others that of the scenario."""
    topology = v.zookeeper_cluster(controller=draft.roles[-1], levels=levels)
    return draft.plan(steps, done, v.acknowledged(f"{done}.ended"), topology=topology)

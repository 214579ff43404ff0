"""Acknowledged records while a broker sleeps, ends and returns, and while its connections are torn."""

from __future__ import annotations

from fencepost.suites import vocabulary as v

LEADER = "leader:t-0"
CLIENTS = "site:main"
SLEEP_MS = 3000
TORN_BYTES = 20_011
"""Bytes after which a connection ends: more than two batches, and a prime, so that no frame ends there."""
MORE = 200
"""Records enough for several connections that are torn."""
LATE_MS = 100
REPEATED = v.ProducerSpec(name="p2", topic="t", rate=100, idempotent=False)
"""A producer without sequence numbers: a record that it sends again may be there twice."""


@v.any_scenario("any-pause", "Records outlive a broker that sleeps and wakes", seconds=12)
def paused(draft: v.Draft) -> v.Plan:
    """The leader sleeps for longer than clients wait, so that they send again what it has taken already."""
    steps: list[v.Step] = [
        v.inject("sleep", v.PauseParameters(nodes=LEADER)),
        v.Hold(as_="asleep", after="sleep.proven", ms=SLEEP_MS),
        v.Heal(as_="wake", fault="sleep"),
    ]
    return _plan(draft, steps, "sleep", "wake")


@v.any_scenario("any-stop", "Records outlive a broker that ends on request and starts again", seconds=12)
def stopped(draft: v.Draft) -> v.Plan:
    """The leader gets SIGTERM and is started again on what it left."""
    return _ended(draft, v.inject("end", v.TerminateParameters(nodes=LEADER)))


@v.any_scenario("any-kill", "Records outlive a broker that is killed and starts again", seconds=12)
def killed(draft: v.Draft) -> v.Plan:
    """The leader gets SIGKILL and is started again on what it left."""
    return _ended(draft, v.inject("end", v.KillParameters(nodes=LEADER)))


def _ended(draft: v.Draft, end: v.Step) -> v.Plan:
    """End the leader. Where another one takes its place, the workload goes on meanwhile."""
    promises = draft.target.promises
    takes_over = promises.failover and promises.replication != "none" and len(draft.target.brokers) > 1
    goes_on = [v.goes_on()] if takes_over else [v.Hold(as_="gone", after="end.proven", ms=1000)]
    return _plan(draft, [end, *goes_on, v.Heal(as_="restart", fault="end")], "end", "restart")


@v.any_scenario(
    "any-torn-requests", "Requests that are torn in mid-frame are sent again, and no record is lost", seconds=15
)
def torn(draft: v.Draft) -> v.Plan:
    """Each connection of the clients to the leader ends in the middle of a request."""
    tear = v.CutAfterBytesParameters(from_=CLIENTS, to=LEADER, after_bytes=TORN_BYTES)
    return _cut(draft, v.inject("tear", tear))


@v.any_scenario(
    "any-torn-answers", "Answers that are torn in mid-frame are asked for again, and no record counts twice", seconds=15
)
def torn_answers(draft: v.Draft) -> v.Plan:
    """Each connection of the clients to the leader ends in the middle of an answer: what it says may have happened."""
    tear = v.CutAfterBytesParameters(from_=CLIENTS, to=LEADER, after_bytes=TORN_BYTES, stream="replies")
    return _cut(draft, v.inject("tear", tear))


@v.any_scenario("any-slow", "Records outlive a link on which every byte comes late", seconds=12)
def slow(draft: v.Draft) -> v.Plan:
    """Requests and answers between the clients and the leader are late, on connections that stay up."""
    late = v.SlowParameters(from_=CLIENTS, to=LEADER, latency_ms=LATE_MS)
    return _cut(draft, v.inject("tear", late))


@v.any_scenario("any-reset", "Records outlive connections that are reset", seconds=12)
def reset(draft: v.Draft) -> v.Plan:
    """Each connection of the clients to the leader ends by a reset."""
    return _silent(draft, v.inject("silence", v.ResetParameters(from_=CLIENTS, to=LEADER)))


@v.any_scenario("any-half-open", "Records outlive connections that only one side can use", seconds=15)
def half_open(draft: v.Draft) -> v.Plan:
    """Requests arrive at the leader, and its answers do not come back: what clients send again is there already."""
    lost = v.BlackholeParameters(from_=CLIENTS, to=LEADER, streams="replies")
    return _silent(draft, v.inject("silence", lost))


@v.any_scenario("any-stalled", "Records outlive connections on which nothing moves", seconds=15)
def stalled(draft: v.Draft) -> v.Plan:
    """Bytes between the clients and the leader wait, and arrive later."""
    return _silent(draft, v.inject("silence", v.StallParameters(from_=CLIENTS, to=LEADER)))


@v.any_scenario("any-cut-off", "Records outlive a broker that is off its network for a while", seconds=15)
def cut_off(draft: v.Draft) -> v.Plan:
    """Neither clients nor other brokers reach the leader, which runs on."""
    return _silent(draft, v.inject("silence", v.DisconnectParameters(nodes=LEADER)))


@v.any_scenario(
    "any-service-unreached",
    "Records outlive a link to a service that is cut, and one that stalls",
    seconds=15,
    services=True,
)
def unreached(draft: v.Draft) -> v.Plan:
    """The leader cannot reach the services beside the brokers: first it is refused, then it waits."""
    services = draft.target.services
    steps: list[v.Step] = [
        v.inject("parted", v.CutParameters(from_=draft.leader, to=services)),
        v.Hold(as_="alone", after="parted.proven", ms=SLEEP_MS),
        v.Heal(as_="joined", fault="parted"),
        v.WorkloadAcks(as_="between", more=MORE, expect=v.must("LIVE-03")),
        v.inject("stalled", v.StallParameters(from_=draft.leader, to=services)),
        v.Hold(as_="waiting", after="stalled.proven", ms=SLEEP_MS),
        v.Heal(as_="flowing", fault="stalled"),
    ]
    return _plan(draft, steps, "parted", "flowing")


def _silent(draft: v.Draft, silence: v.Step) -> v.Plan:
    """Keep the clients from the leader for a time that is long for a client, and short for a cluster."""
    hold = v.Hold(as_="silent", after="silence.proven", ms=SLEEP_MS)
    return _plan(draft, [silence, hold, v.Heal(as_="speak", fault="silence")], "silence", "speak")


def _cut(draft: v.Draft, tear: v.Step) -> v.Plan:
    steps = [tear, v.WorkloadAcks(as_="goes-on", more=MORE, expect=v.must("LIVE-03")), v.Heal(as_="mend", fault="tear")]
    return _plan(draft, steps, "tear", "mend")


def _plan(draft: v.Draft, steps: list[v.Step], fault: str, heal: str) -> v.Plan:
    """Return the plan: records were acknowledged before the fault, and after its healing."""
    workload = v.WorkloadSpec(producers=(v.PRODUCER, REPEATED), consumers=(v.CONSUMER,))
    return draft.plan(
        steps,
        "whole",
        v.acknowledged(before=f"{fault}.injected"),
        v.acknowledged(f"{heal}.ended"),
        workload=workload,
        topology=v.smallest_cluster(draft.target, draft.leader),
        may_lose=draft.target.differs(v.ACKNOWLEDGED_LOSS),
    )

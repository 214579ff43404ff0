"""A node that was started or went on serves within its bound, or ends: else it broke LIVE-07, unless others kept it."""

from __future__ import annotations

import pytest

from fencepost.harness.checkers.silent_nodes import check_silent_nodes
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.results.records.events import INFRASTRUCTURE
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.test_expectations import NODES, Events

CONTROLLERS = tuple(NodeSpec(name=f"node-{id}", id=id, index=id, roles=("controller",)) for id in (1, 2, 3))
ZOOKEEPER = NodeSpec(name="zk-1", id=9, index=9, roles=("zookeeper",))


def plan_of(*more: NodeSpec) -> Plan:
    topology = Topology(nodes=(*NODES, *more))
    return Plan(scenario="s", title="S", document="d", seed=1, target="quorum", topology=topology)


PLAN = plan_of(*CONTROLLERS)


def begun(*, since: float = 10) -> Events:
    """A cluster that came up, and of which node-4 was killed and started again."""
    events = Events()
    for node in ("node-1", "node-2", "node-3", "node-4"):
        events.add(1, "node", node, "started").add(1.5, "node", node, "ready")
    events.add(2, "step", "first", "begin").add(3, "node", "node-4", "killed")
    return events.add(since, "node", "node-4", "started")


def silent(events: Events, t: float = 70, node: str = "node-4", error: str = "ERROR loop") -> Events:
    where = "127.0.0.4:9090"
    return events.add(t, "node", node, "silent", seconds=60.0, address=where, reach="refused", error=error)


def judged(events: Events, plan: Plan = PLAN) -> Finding:
    [finding] = check_silent_nodes(plan, events.journal)
    return finding


@pytest.mark.requirement("LIVE-07")
def test_a_node_that_runs_and_does_not_answer_broke_the_rule() -> None:
    finding = judged(silent(begun()))
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "LIVE-07")
    assert finding.message == (
        "node-4 was started, and neither serves nor ends within 60 s: it runs, and refuses connections at "
        "127.0.0.4:9090. The last error in its log: ERROR loop."
    )


@pytest.mark.requirement("LIVE-07")
@pytest.mark.parametrize(
    ("fault", "params", "damage"), [("damaged-file", {"damage": "cut"}, "cut"), ("stale-blocks", {}, "stale")]
)
def test_it_broke_the_rule_whatever_its_disk_had_and_the_headline_names_the_file(
    fault: str, params: dict[str, str], damage: str
) -> None:
    events = begun().add(4, "fault", "d", "intent", fault=fault, nodes=["node-4"], params={"node": "node-4", **params})
    events.add(5, "fault", "d", "proven", measured={"had": {"data/a": "2"}, "has": {"data/a": "1"}})
    finding = judged(silent(events.add(6, "fault", "d", "recovering")))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.message.startswith(f"node-4 was started after data/a was {damage}, and neither serves nor ends")


def test_nodes_that_answer_hold_the_rule_and_without_a_restart_it_is_not_judged() -> None:
    finding = judged(begun().add(12, "node", "node-4", "ready"))
    assert (finding.verdict, finding.evidence["judged"]) == (Verdict.PASS, 1)
    never = Events().add(1, "node", "node-4", "started").add(1.5, "node", "node-4", "ready")
    assert check_silent_nodes(PLAN, never.add(2, "step", "first", "begin").journal) == []


def test_a_node_that_went_on_after_a_stop_is_judged_as_one_that_was_started() -> None:
    events = begun().add(11, "node", "node-4", "ready").add(12, "node", "node-4", "paused")
    finding = judged(silent(events.add(13, "node", "node-4", "resumed"), t=73))
    assert finding.verdict is Verdict.VIOLATION
    assert finding.message.startswith("node-4 was resumed, and neither serves nor ends")


def test_one_silence_that_is_met_twice_is_reported_once() -> None:
    assert judged(silent(silent(begun()), t=140)).at == 70


def excused(events: Events, plan: Plan = PLAN) -> str:
    finding = judged(events, plan)
    assert finding.verdict is Verdict.INCONCLUSIVE
    return finding.message.partition("Not held against the target: ")[2]


def test_a_node_without_a_processor_is_excused() -> None:
    starved = begun().add(69, "state", "processor", "seen", "node-4", what="processor", seconds=50.0, waited=40.0)
    assert "waited for a processor" in excused(silent(starved))


def test_a_node_that_was_asked_for_a_moment_only_is_excused() -> None:
    """Several nodes shared one deadline in earlier runs, and the last one had what the others left."""
    where = "127.0.0.4:9090"
    moment = begun().add(70, "node", "node-4", "silent", seconds=0.1, address=where, reach="silent")
    assert excused(moment) == "it was asked for 0.1 s only."


@pytest.mark.parametrize("fault", ["disk-slow", "cut", "clock-jump"])
def test_a_fault_on_the_node_that_was_active_explains_it(fault: str) -> None:
    active = begun().add(9, "fault", "f", "intent", fault=fault, links=[{"from": "node-4", "to": "node-1"}])
    assert "the fault f was active" in excused(silent(active))
    lifted = begun().add(9, "fault", "f", "intent", fault=fault, nodes=["node-4"]).add(20, "fault", "f", "recovering")
    assert judged(silent(lifted)).verdict is Verdict.VIOLATION


def test_a_fault_on_a_minority_of_the_controllers_explains_nothing_and_on_a_majority_it_does() -> None:
    def slow(*nodes: str) -> Events:
        return silent(begun().add(9, "fault", "f", "intent", fault="disk-slow", nodes=list(nodes)))

    assert judged(slow("node-1")).verdict is Verdict.VIOLATION
    assert "the others are no majority" in excused(slow("node-1", "node-2"))
    assert judged(slow("node-5")).verdict is Verdict.VIOLATION, "a broker needs no other broker to serve"


@pytest.mark.parametrize("gone", ["killed", "exited", "paused", "stopped", "silent"])
def test_a_majority_of_the_controllers_that_was_away_explains_it(gone: str) -> None:
    def without(*nodes: str) -> Events:
        events = begun()
        for node in nodes:
            if gone == "silent":
                events = silent(events.add(12, "node", node, "started"), t=72, node=node)
            else:
                events = events.add(12, "node", node, gone)
        return silent(events)

    assert check_silent_nodes(PLAN, without("node-1").journal)[-1].verdict is Verdict.VIOLATION
    last = check_silent_nodes(PLAN, without("node-1", "node-2").journal)[-1]
    assert "node-1, node-2 (their processes)" in last.message
    back = without("node-1", "node-2") if gone == "paused" else None
    if back is not None:
        back = Events([*begun().add(12, "node", "node-1", "paused").add(13, "node", "node-1", "resumed")])
        assert judged(silent(back)).verdict is Verdict.VIOLATION


@pytest.mark.requirement("LIVE-08")
def test_no_design_promises_anything_once_a_majority_of_the_controllers_lost_what_it_knew() -> None:
    def emptied(*nodes: str) -> Events:
        events = begun().add(4, "fault", "f", "intent", fault="emptied", nodes=list(nodes))
        return silent(events.add(5, "fault", "f", "healed"))

    assert judged(emptied("node-1")).verdict is Verdict.VIOLATION
    assert judged(emptied("node-4")).verdict is Verdict.VIOLATION, "its own disk explains no silence"
    assert "what they had lost" in excused(emptied("node-1", "node-3"))


def test_duplicates_and_nodes_that_have_one_are_not_judged() -> None:
    assert "no rule" in excused(silent(begun().add(11, "node", "node-4b", "started"), node="node-4b"))
    assert "a second process with its id" in excused(silent(begun().add(11, "node", "node-4b", "started")))


def test_a_node_with_a_wrong_identity_may_be_kept_out() -> None:
    swapped = begun(since=3).add(4, "fault", "s", "intent", fault="swapped", nodes=["node-4", "node-5"])
    assert "wrong identity" in excused(silent(swapped.add(5, "node", "node-4", "started")))


def test_what_failed_beside_the_target_is_not_held_against_it() -> None:
    assert "infrastructure" in excused(silent(begun()).add(80, "note", "n", "seen", what=INFRASTRUCTURE, message="m"))
    client = "the client p1 of the workload failed: KafkaException"
    over_it = silent(begun()).add(80, "note", "n", "seen", what=INFRASTRUCTURE, message=client)
    assert judged(over_it).verdict is Verdict.VIOLATION, "the client may have failed over the silent node"
    assert "no space left" in excused(silent(begun(), error="OSError: no space left on device"))
    zookeeper = Events().add(2, "step", "first", "begin").add(3, "node", "zk-1", "started")
    assert "no rule" in excused(silent(zookeeper, node="zk-1"), plan_of(ZOOKEEPER))


def asked_to_end(then: str | None = None, at: float = 40) -> Events:
    events = begun().add(12, "node", "node-4", "ready").add(20, "node", "node-4", "stopping")
    if then:
        events.add(at, "node", "node-4", then)
    return events.add(90, "run", "r", "end")


@pytest.mark.requirement("LIVE-07")
def test_a_node_that_does_not_end_on_request_broke_the_rule() -> None:
    finding = judged(asked_to_end())
    assert finding.verdict is Verdict.VIOLATION
    assert finding.message == "node-4 was asked to end (SIGTERM), and still runs after 60 s."
    assert judged(asked_to_end("stopped", at=85)).verdict is Verdict.VIOLATION


@pytest.mark.parametrize("then", ["stopped", "killed", "paused", "exited"])
def test_one_that_ended_in_time_or_could_not_did_not(then: str) -> None:
    assert judged(asked_to_end(then)).verdict is Verdict.PASS


def test_a_node_that_is_cut_off_may_end_late() -> None:
    links = [{"from": "node-4", "to": "node-1"}]
    cut = Events([*begun().add(11, "fault", "f", "intent", fault="cut", links=links), *asked_to_end()])
    assert "the fault f was active" in excused(cut)


def test_of_zookeepers_ensemble_a_majority_has_to_be_there() -> None:
    gone = silent(begun().add(1, "node", "zk-1", "started").add(11, "node", "zk-1", "killed"))
    assert "without zk-1" in excused(gone, plan_of(ZOOKEEPER))


def test_one_controller_that_is_away_may_be_what_a_node_waits_for_where_voters_join_later() -> None:
    joins = NodeSpec(name="node-7", id=7, index=7, roles=("controller",), start="later")
    away = silent(begun().add(5, "node", "node-1", "killed"))
    assert judged(away).verdict is Verdict.VIOLATION
    assert "the others are no majority" in str(judged(away, plan_of(*CONTROLLERS, joins)).message)

"""Changes of leadership without a cause, and next to each the causes that excuse it."""

from dataclasses import replace
from typing import Any

import pytest

from fencepost.harness.checkers.control import read_control
from fencepost.harness.checkers.fatal_requests import fatal_requests
from fencepost.harness.checkers.stability import (
    Stability,
    brokers_stay,
    controller_stays,
    followers_stay,
    leaders_stay,
)
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.model import Plan
from fencepost.results.records.verdict import Finding, Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan


def cluster(steps: tuple[dict[str, Any], ...] = (), **changes: Any) -> Plan:
    """Three controllers, and brokers 4 to 6. Effects take 5 s on the controllers, and 8 s on brokers and leaders."""
    nodes = [{"name": f"node-{id}", "id": id, "index": id, "roles": ["controller"]} for id in (1, 2, 3)]
    nodes += [{"name": f"node-{id}", "id": id, "index": id, "roles": ["broker"]} for id in (4, 5, 6)]
    return plan(topology={"nodes": nodes}, topics=[{"name": "t", "assignments": [[4, 5, 6]]}], steps=steps, **changes)


def of(builder: JournalBuilder, its_plan: Plan | None = None, dialect: Dialect = Dialect.KRAFT) -> Stability:
    journal = builder.journal()
    return Stability(its_plan or cluster(), dialect, journal, read_control(journal))


def begun() -> JournalBuilder:
    """Controller 1 is active, broker 4 leads t-0, all brokers are active; the steps begin at 1 s."""
    builder = JournalBuilder().controller(1, 3).partition(4, 0, [4, 5, 6], seen_by="", replicas=[4, 5, 6])
    for id in (4, 5, 6):
        broker(builder, id, "active")
    return builder.at(1.0).event("step", "work", "begin", {"do": "workload"})


def broker(builder: JournalBuilder, id: int, state: str) -> JournalBuilder:
    data = {"what": "broker", "node": f"node-{id}", "id": id, "state": state, "epoch": 7, "offset": 9}
    return builder.event("state", "log", "seen", data)


def fault(builder: JournalBuilder, kind: str = "pause", **targets: Any) -> JournalBuilder:
    builder.event("fault", "f", "intent", {"fault": kind, "params": {}, **targets})
    return builder.event("fault", "f", "proven", {"how": "measured"})


def links(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"from": one, "to": other, "effect": "cut"} for one, other in pairs]


def healed(builder: JournalBuilder) -> JournalBuilder:
    return builder.event("fault", "f", "healed", {"how": "measured"})


def deposed(builder: JournalBuilder) -> Finding:
    return controller_stays(of(builder.controller(2, 5, seen_by="node-2")))


def test_a_cut_voter_that_deposes_the_controller_is_seen_with_the_controller_and_the_epochs() -> None:
    builder = fault(begun(), "isolate", links=links(("node-3", "node-1"), ("node-2", "node-3"))).at(7.0)
    finding = deposed(builder)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "CTRL-02"
    assert "Controller 1 was deposed at epoch 3, by 2 at epoch 5" in finding.message
    assert finding.counterexample is not None
    assert finding.counterexample.rows == ((3, 1, "0.10 s", 5, 2, "7.00 s"),)


def test_a_controller_that_is_elected_again_at_a_higher_epoch_was_deposed_too() -> None:
    finding = controller_stays(of(begun().at(7.0).controller(1, 5)))
    assert finding.verdict is Verdict.VIOLATION


@pytest.mark.parametrize(
    "targets",
    [
        {"nodes": ["node-1"]},
        {"node": "node-1"},
        {"links": links(("node-1", "node-2"), ("node-3", "node-1"))},
        {"links": links(("node-1", "node-2")), "nodes": ["node-3"]},
        {},
    ],
    ids=["itself", "its disk", "its links to both", "a link and the other voter", "unknown"],
)
def test_a_fault_that_may_have_cost_the_controller_its_majority_is_a_cause(targets: dict[str, Any]) -> None:
    builder = fault(begun().at(4.0), **targets)
    assert deposed(builder.at(7.0)).verdict is Verdict.PASS
    assert deposed(healed(fault(begun().at(4.0), **targets)).at(8.5)).verdict is Verdict.PASS
    assert deposed(healed(fault(begun().at(4.0), **targets)).at(12.0)).verdict is Verdict.VIOLATION


def test_a_cut_from_one_controller_is_a_cause_where_any_of_them_may_have_no_vote() -> None:
    removal = {"do": "probe", "as": "removed", "request": "api", "node": "node-1", "api": "remove_raft_voter"}
    changing = cluster(steps=(removal | {"body": {"voter_id": 3}},))
    alone = begun().at(2.0).event("step", "removed", "begin", {"do": "probe"}).event("step", "removed", "end")
    builder = fault(alone.at(20.0), links=links(("node-1", "node-2"))).at(23.0).controller(2, 5, seen_by="node-2")
    assert controller_stays(of(builder, changing)).verdict is Verdict.PASS
    assert controller_stays(of(builder)).verdict is Verdict.VIOLATION


def test_the_controller_may_move_while_nodes_start_and_while_no_node_has_a_processor() -> None:
    waited = {"what": "processor", "waited": 0.6, "seconds": 1.0}
    busy = begun().at(6.0).event("state", "processor", "seen", waited, "node-3")
    busy_broker = begun().at(6.0).event("state", "processor", "seen", waited, "node-6")
    restarted = begun().at(6.0).event("node", "node-1", "killed", {}, "node-1")
    assert deposed(busy.at(7.0)).verdict is Verdict.PASS
    assert deposed(busy_broker.at(7.0)).verdict is Verdict.VIOLATION
    assert deposed(restarted.at(7.0)).verdict is Verdict.PASS
    assert controller_stays(of(JournalBuilder().controller(1, 3).controller(2, 5))).verdict is Verdict.PASS


@pytest.mark.parametrize(("request_", "verdict"), [("vote", Verdict.PASS), ("metadata", Verdict.VIOLATION)])
def test_only_a_request_that_acts_on_the_cluster_is_a_cause(request_: str, verdict: Verdict) -> None:
    probe = {"do": "probe", "as": "asked", "request": request_, "node": "node-2"}
    its_plan = cluster(steps=(probe | ({"candidate": "node-3"} if request_ == "vote" else {}),))
    builder = begun().event("step", "asked", "begin", {"do": "probe"}).at(7.0).event("step", "asked", "end")
    assert controller_stays(of(builder.controller(2, 5), its_plan)).verdict is verdict


def test_with_zookeeper_any_disturbance_of_a_server_is_a_cause() -> None:
    zookeeper = {"name": "zk-1", "id": 0, "index": 9, "roles": ["zookeeper"]}
    brokers = [{"name": f"node-{id}", "id": id, "index": id, "roles": ["broker"]} for id in (1, 4, 5)]
    its_plan = plan(topology={"nodes": [zookeeper, *brokers]})
    quiet = begun().at(7.0).controller(4, 5, seen_by="")
    assert controller_stays(of(quiet, its_plan, Dialect.ZOOKEEPER)).verdict is Verdict.VIOLATION
    cut = fault(begun(), "cut", links=links(("zk-1", "node-1"))).at(7.0).controller(4, 5, seen_by="")
    assert controller_stays(of(cut, its_plan, Dialect.ZOOKEEPER)).verdict is Verdict.PASS


def test_with_zookeeper_a_server_that_is_cut_from_the_others_ends_the_session_of_a_controller_that_it_serves() -> None:
    names = ("zk-1", "zk-2", "zk-3")
    servers = [{"name": name, "id": 0, "index": 6 + at, "roles": ["zookeeper"]} for at, name in enumerate(names, 1)]
    brokers = [{"name": f"node-{id}", "id": id, "index": id, "roles": ["broker"]} for id in (1, 4, 5)]
    its_plan = plan(topology={"nodes": [*servers, *brokers]})
    cut = fault(begun(), "isolate", links=links(("zk-3", "zk-1"), ("zk-2", "zk-3"))).at(7.0)
    deposed = of(cut.controller(4, 5, seen_by=""), its_plan, Dialect.ZOOKEEPER)
    assert controller_stays(deposed).verdict is Verdict.PASS
    elsewhere = fault(begun(), "cut", links=links(("zk-3", "node-4"))).at(7.0).controller(4, 5, seen_by="")
    assert controller_stays(of(elsewhere, its_plan, Dialect.ZOOKEEPER)).verdict is Verdict.VIOLATION


def requested(api: str, *, disturbed: str = "") -> tuple[JournalBuilder, Plan]:
    """Return a journal in which a request is asked and answered, and its plan."""
    its_plan = cluster(steps=({"do": "probe", "as": "asked", "request": "api", "api": api, "node": "node-4"},))
    builder = fault(begun(), "pause", nodes=[disturbed]) if disturbed else begun()
    builder.at(5.0).event("step", "asked", "begin", {"do": "probe"})
    return builder.at(5.5).event("step", "asked", "end"), its_plan


def test_a_voter_that_was_away_explains_the_move_only_without_pre_vote() -> None:
    builder = fault(begun(), "pause", nodes=["node-3"]).at(3.0)
    run = of(healed(builder).at(5.0).controller(2, 5, seen_by="node-2"))
    assert controller_stays(run).verdict is Verdict.VIOLATION
    assert controller_stays(replace(run, pre_vote=False)).verdict is Verdict.PASS


@pytest.mark.requirement("CTRL-04")
def test_a_controller_that_loses_its_office_over_a_request_is_seen_with_the_request() -> None:
    builder, its_plan = requested("create_topics")
    run = of(builder.at(7.0).controller(2, 5, seen_by="node-2"), its_plan)
    finding = fatal_requests(run)
    assert controller_stays(run).verdict is Verdict.PASS, "the request is a cause there"
    assert finding.verdict is Verdict.VIOLATION
    assert finding.requirement == "CTRL-04"
    assert "node-1 lost epoch 3" in finding.message
    assert "asked (create_topics, 5.00 s)" in finding.message


@pytest.mark.requirement("CTRL-04")
def test_a_controller_that_ends_over_a_request_is_seen_and_a_broker_is_not_one() -> None:
    for node, verdict in (("node-1", Verdict.VIOLATION), ("node-3", Verdict.VIOLATION), ("node-4", Verdict.PASS)):
        builder, its_plan = requested("create_topics")
        builder = builder.event("node", node, "started", {}, node).at(6.0)
        builder.event("node", node, "exited", {"exit_code": 1, "message": "it ended"}, node)
        assert fatal_requests(of(builder, its_plan)).verdict is verdict


def test_a_request_that_is_long_past_and_one_of_nodes_and_a_fault_explain_the_move() -> None:
    past, its_plan = requested("create_topics")
    assert fatal_requests(of(past.at(30.0).controller(2, 5), its_plan)).verdict is Verdict.PASS
    raft, its_plan = requested("vote")
    assert fatal_requests(of(raft.at(7.0).controller(2, 5), its_plan)).verdict is Verdict.PASS
    away, its_plan = requested("create_topics", disturbed="node-3")
    assert fatal_requests(of(away.at(7.0).controller(2, 5), its_plan)).verdict is Verdict.PASS
    paused, its_plan = requested("create_topics", disturbed="node-1")
    finding = fatal_requests(of(paused.at(7.0).controller(2, 5), its_plan))
    assert finding.verdict is Verdict.PASS
    assert finding.evidence["judged"] == 1


def fenced(builder: JournalBuilder) -> Finding:
    return brokers_stay(of(broker(builder, 5, "fenced")))


def failed_over(builder: JournalBuilder, kind: str = "kill") -> JournalBuilder:
    return fault(builder, kind, nodes=["node-1"]).at(builder.t + 1.0).controller(2, 5, seen_by="node-2")


def test_a_failover_that_fences_a_live_broker_is_seen() -> None:
    finding = fenced(failed_over(begun().at(10.0)))
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "CTRL-03")
    assert "node-5 became fenced at 11.20 s" in finding.message
    assert finding.counterexample is not None
    assert finding.counterexample.rows == (("node-5", "fenced", 7, "11.20 s", "node-2"),)


def test_a_broker_that_was_cut_off_or_that_died_may_be_fenced() -> None:
    for targets in ({"nodes": ["node-5"]}, {"links": links(("node-5", "node-1"))}):
        assert fenced(fault(begun().at(10.0), **targets).at(12.0)).verdict is Verdict.PASS
    assert fenced(fault(begun().at(10.0), nodes=["node-6"]).at(12.0)).verdict is Verdict.VIOLATION


def test_a_controller_that_slept_may_take_silence_for_death() -> None:
    assert fenced(failed_over(begun().at(10.0), "pause")).verdict is Verdict.PASS


def test_a_broker_of_the_draft_fences_itself_when_a_failover_outlasts_its_lease() -> None:
    quick = broker(failed_over(begun().at(10.0)).at(12.0), 5, "gone")
    assert brokers_stay(of(quick, cluster(timing={"lease_ms": 4000}), Dialect.KIP_631)).verdict is Verdict.VIOLATION
    assert brokers_stay(of(quick, cluster(timing={"lease_ms": 1500}), Dialect.KIP_631)).verdict is Verdict.PASS


def moved(builder: JournalBuilder, leader: int = 5) -> Finding:
    return leaders_stay(of(builder.partition(leader, 1, [5, 6], seen_by="", replicas=[4, 5, 6])))


def test_a_leader_that_changes_while_nothing_happens_is_seen() -> None:
    finding = moved(begun().at(9.0))
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "LEAD-01")
    assert finding.counterexample is not None
    assert finding.counterexample.rows == (("t-0", 4, 5, 1, "5, 6", "9.00 s"),)
    assert moved(begun().at(9.0), leader=-1).verdict is Verdict.VIOLATION


def test_the_disturbance_of_another_broker_is_no_cause() -> None:
    assert moved(fault(begun().at(8.0), nodes=["node-6"]).at(9.0)).verdict is Verdict.VIOLATION
    assert moved(fault(begun().at(8.0), nodes=["node-4"]).at(9.0)).verdict is Verdict.PASS
    assert moved(fault(begun().at(8.0), links=links(("node-2", "node-4"))).at(9.0)).verdict is Verdict.PASS


def test_the_preferred_leader_may_take_over_also_by_way_of_no_leader() -> None:
    builder = begun().partition(5, 1, [5, 6], seen_by="", replicas=[4, 5, 6]).at(12.0)
    builder.partition(-1, 1, [4, 5, 6], seen_by="", replicas=[4, 5, 6])
    back = builder.partition(4, 2, [4, 5, 6], seen_by="", replicas=[4, 5, 6])
    [first, *others] = leaders_stay(of(back)).counterexample.rows  # type: ignore[union-attr]
    assert first[:3] == ("t-0", 4, 5)
    assert others == []


def left(builder: JournalBuilder, steps: tuple[dict[str, Any], ...] = ()) -> Finding:
    return followers_stay(of(builder.partition(4, 0, [4, 5], seen_by="", replicas=[4, 5, 6]), cluster(steps)))


def test_a_follower_that_is_left_alone_with_its_leader_stays_in_the_isr() -> None:
    finding = left(begun().at(12.0))
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "ISR-12")
    assert finding.counterexample is not None
    assert finding.counterexample.rows[0][:3] == ("t-0", 6, 4)


@pytest.mark.parametrize("node", ["node-6", "node-4"])
def test_a_follower_may_leave_after_a_disturbance_of_it_or_of_its_leader(node: str) -> None:
    assert left(fault(begun().at(8.0), nodes=[node]).at(9.0)).verdict is Verdict.PASS
    assert left(fault(begun().at(8.0), nodes=["node-5"]).at(9.0)).verdict is Verdict.VIOLATION


def test_a_follower_may_leave_with_its_leader_or_when_the_partition_moves() -> None:
    assert followers_stay(of(begun().at(12.0).partition(5, 1, [5], seen_by=""))).verdict is Verdict.PASS
    moves = begun().at(12.0).partition(4, 0, [4, 5], seen_by="", replicas=[4, 5])
    assert followers_stay(of(moves)).verdict is Verdict.PASS


def test_nothing_is_said_of_followers_once_a_setting_of_replication_was_changed() -> None:
    change = {"name": "leader.replication.throttled.replicas", "config_operation": 0, "value": "*"}
    resource = {"resource_type": 2, "resource_name": "t", "configs": [change]}
    body = {"validate_only": False, "resources": [resource]}
    step = {"do": "probe", "request": "api", "node": "node-4", "api": "incremental_alter_configs", "body": body}
    assert left(begun().at(12.0), (step,)).verdict is not Verdict.VIOLATION


def election(name: str, topics: list[dict[str, Any]] | None) -> dict[str, Any]:
    body = {"election_type": 0, "topic_partitions": topics, "timeout": 1000}
    return {"as": name, "do": "probe", "request": "api", "node": "node-4", "api": "elect_leaders", "body": body}


@pytest.mark.parametrize(
    ("dialect", "elections", "verdict"),
    [
        (Dialect.KIP_631, [], Verdict.VIOLATION),
        (Dialect.KIP_631, [[{"topic": "t", "partitions": [1, 2]}]], Verdict.VIOLATION),
        (Dialect.KIP_631, [[{"topic": "u", "partitions": [0]}]], Verdict.VIOLATION),
        (Dialect.KIP_631, [[{"topic": "t", "partitions": [1, 0]}]], Verdict.PASS),
        (Dialect.KIP_631, [None, [{"topic": "t", "partitions": [1]}]], Verdict.PASS),
        (Dialect.KRAFT, [[{"topic": "t", "partitions": [1]}]], Verdict.PASS),
    ],
)
def test_the_preferred_leader_of_the_draft_takes_over_where_its_partition_is_elected(
    dialect: Dialect, elections: list[list[dict[str, Any]] | None], verdict: Verdict
) -> None:
    assert leaders_stay(moved_back(dialect, elections, asked_at=11.0)).verdict is verdict


@pytest.mark.parametrize(
    ("asked_at", "verdict"), [(2.0, Verdict.VIOLATION), (11.0, Verdict.PASS), (13.0, Verdict.VIOLATION)]
)
def test_an_election_long_before_or_after_a_move_is_no_cause_of_it(asked_at: float, verdict: Verdict) -> None:
    assert leaders_stay(moved_back(Dialect.KIP_631, [None], asked_at)).verdict is verdict


def moved_back(dialect: Dialect, elections: list[list[dict[str, Any]] | None], asked_at: float) -> Stability:
    """Partition t-0 goes back to its preferred leader at 12 s."""
    named = {f"elect-{number}": topics for number, topics in enumerate(elections)}
    builder = JournalBuilder().controller(1, 3).partition(5, 1, [4, 5, 6], seen_by="", replicas=[4, 5, 6])
    builder.at(1.0).event("step", "work", "begin", {"do": "workload"})

    def ask() -> None:
        for name in named:
            builder.at(asked_at).event("step", name, "begin", {"do": "probe"})
            builder.event("step", name, "end", {"outcome": "ok", "message": ""})

    if asked_at < 12.0:
        ask()
    builder.at(12.0).partition(4, 2, [4, 5, 6], seen_by="", replicas=[4, 5, 6])
    if asked_at > 12.0:
        ask()
    asked = cluster(tuple(election(name, topics) for name, topics in named.items()))
    return of(builder, asked, dialect)


@pytest.mark.parametrize(
    ("dialect", "isr", "disturbed", "verdict"),
    [
        (Dialect.LEADER_DRIVEN, [6, 4], "node-6", Verdict.PASS),
        (Dialect.LEADER_DRIVEN, [6, 4], "node-5", Verdict.VIOLATION),
        (Dialect.LEADER_DRIVEN, [4, 5], "node-6", Verdict.VIOLATION),
        (Dialect.KRAFT, [6, 4], "node-6", Verdict.VIOLATION),
    ],
)
def test_without_controllers_a_leader_may_make_way_for_a_preferred_replica_that_dies_before_it_leads(
    dialect: Dialect, isr: list[int], disturbed: str, verdict: Verdict
) -> None:
    builder = begun().partition(4, 1, isr, seen_by="", replicas=[6, 4, 5]).at(12.0)
    fault(builder, "kill", nodes=[disturbed]).at(13.0).partition(5, 2, [5], seen_by="", replicas=[6, 4, 5])
    assert leaders_stay(of(builder, dialect=dialect)).verdict is verdict


def test_a_partition_of_a_deleted_topic_and_one_that_was_reassigned_may_lose_their_leader() -> None:
    gone = {"what": "partition-gone", "topic": "t", "partition": 0}
    deleted = begun().at(9.0).partition(-1, 1, [], seen_by="", replicas=[4, 5, 6]).event("state", "log", "seen", gone)
    assert leaders_stay(of(deleted)).verdict is Verdict.PASS
    reassigned = begun().at(9.0).partition(6, 1, [6, 5], seen_by="", replicas=[5, 6])
    assert leaders_stay(of(reassigned)).verdict is Verdict.PASS


def test_without_controllers_the_leader_itself_and_zookeeper_are_the_causes() -> None:
    quiet = begun().at(9.0).partition(5, 1, [5, 6], seen_by="", replicas=[4, 5, 6])
    assert leaders_stay(of(quiet, dialect=Dialect.LEADER_DRIVEN)).verdict is Verdict.VIOLATION


def test_a_second_process_disturbs_the_node_whose_id_it_claims_and_a_lasting_step_the_whole_cluster() -> None:
    nodes = [each.model_dump() for each in cluster().topology.nodes]
    duplicate = {"name": "node-4b", "id": 4, "index": 14, "roles": ["broker"], "duplicate_of": "node-4"}
    its_plan = plan(topology={"nodes": [*nodes, duplicate]}, topics=[{"name": "t", "assignments": [[4, 5, 6]]}])
    second = fault(begun(), "duplicate", nodes=["node-4b"]).at(9.0)
    second.partition(5, 1, [5, 6], seen_by="", replicas=[4, 5, 6])
    assert leaders_stay(of(second, its_plan)).verdict is Verdict.PASS
    rolling = begun().event("step", "rolled", "begin", {"do": "roll"}).at(9.0)
    assert moved(rolling).verdict is Verdict.PASS


def test_a_process_of_two_roles_has_its_name_by_both_ids() -> None:
    nodes = [
        {"name": f"node-{id}", "id": id, "index": id, "roles": ["broker", "controller"], "controller_id": id - 3}
        for id in (4, 5)
    ]
    its_plan = plan(topology={"nodes": nodes}, topics=[{"name": "t", "assignments": [[4, 5]]}])
    assert of(JournalBuilder(), its_plan).names == {4: "node-4", 1: "node-4", 5: "node-5", 2: "node-5"}

"""Nodes that end by themselves: by their own doing, by that of the machine, or over a fault."""

from __future__ import annotations

import pytest

from fencepost.harness.checkers.exits import check_exits
from fencepost.harness.plan.conditions.node_exited import NodeExited
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.bind import Bind
from fencepost.results.records.events import Event
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.test_expectations import NODES, Events

ZOOKEEPER = NodeSpec(name="zk-1", id=9, index=9, roles=("zookeeper",))


def plan_of(*steps: Step) -> Plan:
    topology = Topology(nodes=(*NODES, ZOOKEEPER))
    return Plan(scenario="s", title="S", document="d", seed=1, target="quorum", topology=topology, steps=steps)


def begun() -> Events:
    """A cluster that came up, and whose first step has begun."""
    events = Events()
    for node in ("node-4", "node-5", "zk-1"):
        events.add(1, "node", node, "started").add(1.5, "node", node, "ready")
    return events.add(2, "step", "first", "begin")


def verdict(events: Events, *steps: Step) -> Verdict:
    findings = check_exits(plan_of(*steps), events.journal)
    assert len(findings) == 1
    return findings[0].verdict


def exited(events: Events, node: str = "node-4", t: float = 20.0, code: int = 1, message: str = "") -> Events:
    return events.add(t, "node", node, "exited", exit_code=code, message=message or f"{node} ended with {code}")


@pytest.mark.requirement("LIVE-07")
def test_an_end_that_nothing_explains_is_the_targets_doing() -> None:
    events = exited(begun(), message="node-4 ended with exit code 1; it does not have the committed metadata")
    [finding] = check_exits(plan_of(), events.journal)
    assert (finding.verdict, finding.requirement) == (Verdict.VIOLATION, "LIVE-07")
    assert "does not have the committed metadata" in finding.message


@pytest.mark.requirement("LIVE-07")
@pytest.mark.parametrize(("code", "broken"), [(0, False), (143, False), (-15, False), (2, True), (-11, True)])
def test_a_node_that_ends_after_sigterm_with_a_wrong_exit_code_broke_the_rule(code: int, broken: bool) -> None:
    asked = begun().add(3, "node", "node-4", "stopping")
    said = {"message": f"node-4 ended with {code}; the last lines of x.log:\n  | panic: boom", "error": "panic: boom"}
    [finding] = check_exits(plan_of(), asked.add(4, "node", "node-4", "stopped", exit_code=code, **said).journal)
    assert (finding.verdict is Verdict.VIOLATION) is broken
    if broken:
        assert finding.message == (
            f"Asked to end (SIGTERM), node-4 ended with {code}. The last error in its log: panic: boom. "
            "The last lines of x.log:\n  | panic: boom"
        )


@pytest.mark.requirement("LIVE-07")
def test_a_step_that_waits_for_the_end_allows_no_wrong_exit_code_unless_it_names_it() -> None:
    asked = begun().add(3, "node", "node-4", "stopping").add(4, "node", "node-4", "stopped", exit_code=1)
    assert verdict(asked, NodeExited(as_="gone", node="node-4", within_ms=1)) is Verdict.VIOLATION
    assert verdict(asked, NodeExited(as_="gone", node="node-4", within_ms=1, code=1)) is Verdict.PASS


@pytest.mark.requirement("LIVE-07")
def test_an_end_over_damaged_files_needs_a_reason_in_the_log() -> None:
    damaged = begun().add(
        3, "fault", "d", "intent", fault="damaged-file", nodes=["node-4"], params={"node": "node-4", "damage": "cut"}
    )
    damaged.add(3, "fault", "d", "proven", measured={"had": {"data/a": "1", "data/b": "1"}, "has": {"data/b": "1"}})
    damaged.add(4, "node", "node-4", "started")
    with_reason = Events([*damaged]).add(5, "node", "node-4", "exited", exit_code=1, error="ERROR no magic")
    assert verdict(with_reason) is Verdict.PASS
    [finding] = check_exits(plan_of(), damaged.add(5, "node", "node-4", "exited", exit_code=1, error="").journal)
    assert finding.verdict is Verdict.VIOLATION
    assert finding.message == (
        "Without a cause node-4 ended with exit code 1, after data/a was cut. Its log has no reason for it."
    )


@pytest.mark.requirement("LIVE-07")
def test_an_end_over_stale_blocks_names_them_and_needs_a_reason_in_the_log() -> None:
    stale = begun().add(3, "fault", "s", "intent", fault="stale-blocks", nodes=["node-4"], params={"node": "node-4"})
    stale.add(3, "fault", "s", "proven", measured={"had": {"a at byte 0": "1"}, "has": {"a at byte 0": "2"}})
    stale.add(4, "node", "node-4", "started")
    with_reason = Events([*stale]).add(5, "node", "node-4", "exited", exit_code=1, error="ERROR no magic")
    assert verdict(with_reason) is Verdict.PASS
    [finding] = check_exits(plan_of(), stale.add(5, "node", "node-4", "exited", exit_code=1, error="").journal)
    assert finding.verdict is Verdict.VIOLATION
    assert "after a at byte 0 was stale." in finding.message


def test_a_cluster_in_which_no_node_ends_holds_the_rule() -> None:
    [finding] = check_exits(plan_of(), begun().journal)
    assert (finding.verdict, finding.requirement) == (Verdict.PASS, "LIVE-07")


def test_a_power_loss_of_others_explains_no_end() -> None:
    """Each node still has what it made durable, and the others rely on no more (KAFKA-10533)."""
    dark = begun().add(3, "fault", "dark", "intent", fault="power-loss", nodes=["node-5"])
    assert verdict(exited(dark.add(9, "fault", "dark", "healed"))) is Verdict.VIOLATION


def test_a_fault_that_took_away_what_a_node_promised_may_explain_the_end_of_any() -> None:
    emptied = begun().add(3, "fault", "wiped", "intent", fault="emptied", nodes=["node-5"])
    assert verdict(exited(emptied.add(9, "fault", "wiped", "healed"))) is Verdict.INFRASTRUCTURE


def test_a_fault_on_the_node_or_on_a_link_of_it_may_explain_its_end() -> None:
    paused = begun().add(3, "fault", "p", "intent", fault="pause", nodes=["node-4"])
    assert verdict(exited(paused)) is Verdict.INFRASTRUCTURE
    link = {"from": "node-5", "to": "node-4"}
    assert verdict(exited(begun().add(3, "fault", "c", "intent", fault="cut", links=[link]))) is Verdict.INFRASTRUCTURE


@pytest.mark.requirement("LIVE-07")
@pytest.mark.parametrize("fault", ["pause", "isolate", "clock-jump"])
def test_a_fault_that_was_healed_explains_no_end(fault: str) -> None:
    def healed() -> Events:
        at_work = begun().add(3, "fault", "f", "intent", fault=fault, nodes=["node-4"])
        return at_work.add(4, "fault", "f", "healed")

    assert verdict(exited(healed(), t=3.5)) is Verdict.INFRASTRUCTURE
    assert verdict(exited(healed(), t=5)) is Verdict.VIOLATION
    again = healed().add(5, "node", "node-4", "started").add(6, "node", "node-4", "ready")
    assert verdict(exited(again)) is Verdict.VIOLATION


@pytest.mark.parametrize("fault", ["kill", "power-loss"])
def test_a_node_that_was_only_killed_or_lost_its_power_has_to_start_again(fault: str) -> None:
    killed = begun().add(3, "fault", "kill", "intent", fault=fault, nodes=["node-4"]).add(3, "node", "node-4", "killed")
    assert verdict(exited(killed.add(5, "node", "node-4", "started"), t=6)) is Verdict.VIOLATION


def test_a_start_may_fail_while_a_fault_keeps_other_nodes_away() -> None:
    def starting() -> Events:
        away = begun().add(3, "fault", "away", "intent", fault="kill", nodes=["node-5"])
        return away.add(4, "node", "node-4", "killed").add(5, "node", "node-4", "started")

    assert verdict(exited(starting(), t=6)) is Verdict.INFRASTRUCTURE
    assert verdict(exited(starting().add(5.5, "node", "node-4", "ready"), t=6)) is Verdict.VIOLATION


def test_a_second_process_with_its_id_may_explain_the_end() -> None:
    assert verdict(exited(begun().add(3, "node", "node-4b", "started"))) is Verdict.INFRASTRUCTURE


@pytest.mark.parametrize(
    ("code", "message"),
    [(-9, ""), (137, ""), (1, "java.lang.OutOfMemoryError"), (1, "OSError: [Errno 98] Address already in use")],
)
def test_the_doing_of_the_machine_is_not_held_against_the_target(code: int, message: str) -> None:
    assert verdict(exited(begun(), code=code, message=message)) is Verdict.INFRASTRUCTURE


def test_neither_are_zookeeper_servers_and_clusters_that_never_came_up() -> None:
    assert verdict(exited(begun(), "zk-1")) is Verdict.INFRASTRUCTURE
    assert verdict(exited(Events().add(1, "node", "node-4", "started"), t=2)) is Verdict.INFRASTRUCTURE


def test_a_node_may_end_if_a_step_waits_for_it_or_it_is_a_duplicate() -> None:
    assert verdict(exited(begun(), "node-4b")) is Verdict.PASS
    role = (NodeExited(as_="gone", node="leader:t-0", within_ms=1),)
    gone = Event(0, 1, 1, "step", "gone", "end", None, {"outcome": "done", "node": "node-4"})
    assert verdict(exited(Events([*begun(), gone])), *role) is Verdict.PASS
    assert verdict(exited(Events([*begun(), gone]), "node-5"), *role) is Verdict.VIOLATION
    steps = (Bind(as_="old", node="node-4"), NodeExited(node="$old", within_ms=1))
    assert verdict(exited(begun().add(3, "step", "old", "end", outcome="done", bound="node-4")), *steps) is Verdict.PASS


def test_a_node_may_end_over_its_disk_until_it_is_started_on_a_whole_one() -> None:
    broken = begun().add(
        3, "fault", "broken", "intent", fault="disk-error", nodes=["node-4"], params={"node": "node-4"}
    )
    assert verdict(exited(broken, t=4)) is Verdict.PASS
    healed = broken.add(5, "fault", "broken", "healed").add(6, "node", "node-4", "started")
    assert check_exits(plan_of(), exited(healed, t=7).journal)[-1].verdict is Verdict.VIOLATION
    other = begun().add(3, "fault", "broken", "intent", fault="disk-error", nodes=["node-5"])
    assert verdict(exited(other.add(3.5, "node", "node-4", "ready"))) is Verdict.VIOLATION


def test_a_node_may_end_if_it_was_started_with_a_wrong_identity() -> None:
    swapped = begun().add(3, "fault", "swap", "intent", fault="swapped", nodes=["node-4", "node-5"])
    refused = exited(swapped.add(4, "node", "node-4", "started").add(4, "node", "node-5", "started"), t=5)
    late = exited(refused.add(6, "fault", "swap", "recovering"), "node-5", t=7)
    assert verdict(late) is Verdict.PASS
    whole = late.add(8, "fault", "swap", "healed").add(9, "node", "node-5", "started")
    assert verdict(exited(whole, "node-5", t=10)) is Verdict.VIOLATION

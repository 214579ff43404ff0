"""Targets that show nothing but what clients see: their files, and the plans that fit them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.harness.campaign.planner import generate
from fencepost.harness.cli.interactive import described, interactive_plan
from fencepost.harness.cluster.cluster import lay_out
from fencepost.harness.conformance.live_plan import live_plan
from fencepost.harness.engine.run import check_plan, run
from fencepost.harness.errors import UsageError
from fencepost.harness.network.addresses import LAST_K, Addresses
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan import topologies
from fencepost.harness.plan.conditions.voters_caught_up import VotersCaughtUp
from fencepost.harness.plan.model import NodeSpec, Plan, Topology
from fencepost.harness.plan.promises import Promises
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.bind import Bind
from fencepost.harness.targets.fixed_brokers import FixedBrokers
from fencepost.harness.targets.registry import load_file
from fencepost.harness.yaml_file import YamlFileError
from fencepost.results.records.requirements import RequirementState
from fencepost.results.records.verdict import Verdict
from fencepost.suites import vocabulary as v
from fencepost.suites.scenarios import SUITES, scenarios_for
from fencepost.suites.target_facts import TargetFacts

SEEN = str(Path(__file__).with_name("quorum-as-clients-see-it.yaml"))
NAME = "quorum-as-clients-see-it"  # loading it here would add it to the targets of other tests
FILE = """\
name: acme
title: the broker of Acme
version: "1"
dialect: clients
capabilities: [links, kill, pause]
clusters_per_core: 1
process: {command: {broker: [acme]}}
"""


def _file(folder: Path, *lines: str) -> str:
    path = folder / "acme.yaml"
    path.write_text(FILE + "".join(f"{line}\n" for line in lines))
    return str(path)


def _plan(target: str, *steps: Step, nodes: tuple[NodeSpec, ...] = topologies.brokers()) -> Plan:
    name = load_file(target).name
    return Plan(
        scenario="s", title="s", document="d", seed=1, target=name, topology=Topology(nodes=nodes), steps=tuple(steps)
    )


def test_a_file_without_controllers_timeouts_and_promises_is_whole(tmp_path: Path) -> None:
    file = load_file(_file(tmp_path))
    assert (file.brokers.ids, file.timing, file.promises) == ((4, 5, 6), {}, Promises())
    check_plan(_plan(_file(tmp_path)))


@pytest.mark.parametrize(
    ("given", "ids"), [({"count": 1}, (4,)), ({"ids": [111]}, (111,)), ({"count": 2, "ids": [7, 0]}, (7, 0))]
)
def test_the_number_of_brokers_follows_from_their_ids_or_the_ids_from_the_number(
    given: dict[str, object], ids: tuple[int, ...]
) -> None:
    assert FixedBrokers.model_validate(given).ids == ids


@pytest.mark.parametrize("given", ["{count: 2, ids: [111]}", "{ids: [4, 4]}", "{count: 0}", "{ids: []}"])
def test_brokers_that_contradict_each_other_are_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(YamlFileError, match=r"acme\.yaml:8"):
        load_file(_file(tmp_path, f"brokers: {given}"))


def test_keys_for_what_is_not_visible_are_refused_in_another_dialect(tmp_path: Path) -> None:
    path = tmp_path / "fork.yaml"
    path.write_text("name: fork\ntitle: a fork\nextends: apache-kafka\nversion: 4.4.0\npromises: {survives: kill}\n")
    with pytest.raises(YamlFileError, match="`promises` is a key of `dialect: clients` only"):
        load_file(str(path))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (topologies.brokers(), "ids 4, 5, 6, and those of .* are 111"),
        ((*topologies.controllers(), *topologies.brokers([111])), "node-1 has the roles controller, and all nodes"),
    ],
)
def test_a_plan_with_other_nodes_is_refused_before_anything_starts(nodes: tuple[NodeSpec, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_plan(_plan(SEEN, nodes=nodes))
    check_plan(_plan(SEEN, nodes=topologies.brokers([111])))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (VotersCaughtUp(), "the condition `voters-caught-up`, but .* only what clients see"),
        (Bind(as_="epoch", value="broker-epoch:node-111"), "the value `broker-epoch:node-111`"),
        (Bind(as_="active", node="active-controller"), "`active-controller`, but .* no controllers: none is visible"),
    ],
)
def test_a_step_about_what_clients_do_not_see_is_refused_before_anything_starts(step: Step, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_plan(_plan(SEEN, step, nodes=topologies.brokers([111])))


def test_a_harder_blow_than_the_target_promises_to_survive_is_refused(tmp_path: Path) -> None:
    target = _file(tmp_path, "brokers: {ids: [111]}", "promises: {survives: pause}")
    nodes = topologies.brokers([111])
    check_plan(_plan(target, v.inject("sleep", v.PauseParameters(nodes="node-111")), nodes=nodes))
    with pytest.raises(UsageError, match="`kill` is more than it promises to survive"):
        check_plan(_plan(target, v.inject("crash", v.KillParameters(nodes="node-111")), nodes=nodes))


def test_a_scenario_with_a_harder_blow_is_skipped_with_the_reason(tmp_path: Path) -> None:
    facts = TargetFacts.of(_file(tmp_path, "brokers: {count: 1}", "promises: {survives: pause}"))
    reasons = {each.slug: each.unavailable_reason(facts) for each in scenarios_for(facts)}
    assert reasons["any-pause"] is None
    assert "`kill` is more than it promises to survive" in (reasons["any-kill"] or "")
    assert "not capable of terminate" in (reasons["any-stop"] or "")
    assert "serves no transactions" in (reasons["any-transactions"] or "")


def test_only_what_every_broker_owes_applies() -> None:
    assert set(scenarios_for(TargetFacts.of(SEEN))) == {
        each for each in SUITES["any"] if not (each.services or each.front_ends)
    }


def test_topics_have_the_replicas_that_the_target_promises(tmp_path: Path) -> None:
    for replication, replicas in (("isr", 3), ("storage", 1), ("none", 1)):
        facts = TargetFacts.of(_file(tmp_path, f"promises: {{replication: {replication}}}"))
        [topic] = SUITES["any"][0].plan(facts, 1).topics[:1]
        assert len(topic.assignments[0]) == replicas


def test_all_ways_to_a_cluster_take_the_brokers_of_the_target() -> None:
    assert [node.name for node in interactive_plan(SEEN).topology.nodes] == ["node-111"]
    assert described(interactive_plan(SEEN)) == "1 broker"
    plan = live_plan(SEEN)
    assert [node.id for node in plan.topology.nodes] == [111]
    assert plan.topics[0].assignments == ((111,),)
    check_plan(generate(SEEN, "process", 1))


def test_with_one_listener_peers_and_clients_use_the_same_port() -> None:
    plan = _plan(SEEN, nodes=topologies.brokers([111, 112]))
    layout = lay_out(plan, Addresses(LAST_K + 1), load_file(SEEN).model_copy(update={"one_listener": True}))
    first, second = layout.nodes
    assert first.listeners == (Listener.CLIENT,)
    assert first.front == first.endpoint(Listener.CLIENT)
    assert layout.link(first.name, second.name).upstream == second.endpoint(Listener.CLIENT)


@pytest.mark.integration
def test_a_run_judges_what_clients_see_and_says_what_it_could_not_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    facts = TargetFacts.of(SEEN)
    [scenario] = [each for each in SUITES["any"] if each.slug == "any-kill"]
    _, verdict = run(scenario.plan(facts, 1), tmp_path / "runs")
    assert verdict.verdict is Verdict.PASS, [finding.message for finding in verdict.findings]
    states = {each.id: each.state for each in verdict.requirements}
    assert {states[rule] for rule in ("ACK-01", "TOPIC-02", "LIVE-07")} == {RequirementState.HELD}
    assert {states[rule] for rule in ("ISR-03", "LEAD-01", "SEG-01")} == {RequirementState.NOT_EXERCISED}

"""A cluster lives on only while it is as good as before; what its runs keep of it is theirs alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fencepost.faults.processes.kill import KillParameters
from fencepost.harness.campaign.campaign import Order
from fencepost.harness.campaign.operations.mistakes import ILLEGAL_NAMES, METADATA_LOG
from fencepost.harness.clients.login import connect
from fencepost.harness.cluster.cluster import Cluster
from fencepost.harness.engine.living import (
    CHAIN,
    LivingCluster,
    copy_sparse,
    may_live_on,
    same_nodes,
    save_plans,
    saved_plans,
    topics_of,
)
from fencepost.harness.engine.run import run
from fencepost.harness.judge import judge_folder
from fencepost.harness.network.layout import Listener
from fencepost.harness.plan import messages
from fencepost.harness.plan.injects import inject
from fencepost.harness.plan.model import Plan, TopicSpec
from fencepost.harness.plan.requests.api import ApiProbe
from fencepost.harness.plan.steps import Step
from fencepost.harness.plan.steps.heal import Heal
from fencepost.harness.plan.steps.workload import Workload
from fencepost.results.records.events import CONVERGE
from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import read_journal
from fencepost.results.records.verdict import Verdict
from tests.harness.checkers.journal_builder import JournalBuilder
from tests.harness.checkers.plans import plan
from tests.harness.test_run import plan_of

ORDER = Order("quorum:1", "process", 7, 60, 1, plans_per_cluster=3)


def ran(fault: str = "kill", *, healed: bool = True, whole: bool = True) -> JournalBuilder:
    builder = JournalBuilder().event("fault", "f", "intent", {"fault": fault}).event("fault", "f", "proven")
    if healed:
        builder.event("fault", "f", "healed")
    return builder.event("step", CONVERGE, "end", {"outcome": "done" if whole else "not judged"})


def test_a_cluster_lives_on_once_all_is_healed_and_it_is_whole() -> None:
    assert may_live_on(plan(), ran().journal())
    assert not may_live_on(plan(), ran(healed=False).journal())
    assert not may_live_on(plan(), ran(whole=False).journal())


def test_a_cluster_whose_nodes_may_have_forgotten_something_or_vote_otherwise_ends() -> None:
    assert not may_live_on(plan(), ran("restored").journal())
    voters = ApiProbe(as_="ask", node="node-1", api="remove_raft_voter", body={})
    assert not may_live_on(plan().model_copy(update={"steps": (voters,)}), ran().journal())
    twin = plan().topology.nodes[1].model_copy(update={"name": "twin", "index": 9, "duplicate_of": "node-4"})
    topology = plan().topology.model_copy(update={"nodes": (*plan().topology.nodes, twin)})
    assert not may_live_on(plan().model_copy(update={"topology": topology}), ran().journal())


def test_plans_of_one_cluster_have_its_nodes_and_topics_of_their_own() -> None:
    places = [ORDER.place(number) for number in range(1, 40)]
    assert places[0] == 0 and max(places) == 2
    assert 0.2 < places.count(0) / len(places) < 0.7
    number = places.index(2) + 1
    plans = [ORDER.plan(each) for each in range(number - 2, number + 1)]
    assert all(same_nodes(each, plans[0]) for each in plans)
    refused = {*ILLEGAL_NAMES, METADATA_LOG, "too-many", "too-few"}  # no mistake creates its topic
    named = [topics_of(each) - refused for each in plans]
    assert len(frozenset.union(*named)) == sum(map(len, named))
    third, of_first = plans[2], topics_of(plans[0]) - {*ILLEGAL_NAMES, METADATA_LOG}
    [deletion] = [each for each in third.steps if isinstance(each, ApiProbe) and "leftovers" in str(each.as_)]
    assert set(deletion.body["topic_names"]) >= of_first, "a plan deletes the topics of the plan two before it"
    assert not [each for earlier in plans[:2] for each in earlier.steps if "leftovers" in str(each)]
    assert plans[2] == Order("quorum:1", "process", 7, 60, 1, plans_per_cluster=3).plan(number)


def test_a_campaign_keeps_the_plans_of_the_present_cluster_alone() -> None:
    order = Order("quorum:1", "process", 7, 60, 1, plans_per_cluster=3)
    for number in range(1, 20):
        order.plan(number)
    assert sorted(order._made) == list(range(19 - order.place(19), 20))
    assert order.plan(2) == Order("quorum:1", "process", 7, 60, 1, plans_per_cluster=3).plan(2)


def test_without_several_plans_on_a_cluster_the_plans_are_those_of_the_seed() -> None:
    fresh = [number for number in range(1, 12) if not ORDER.place(number)]
    assert [ORDER.plan(each) for each in fresh] == [Order("quorum:1", "process", 7, 60, 1).plan(each) for each in fresh]


def test_a_chain_is_read_as_it_was_saved(tmp_path: Path) -> None:
    chain = (plan(), plan(seed=8))
    save_plans(tmp_path / CHAIN, chain)
    assert saved_plans(tmp_path / CHAIN) == chain
    assert saved_plans(tmp_path / "none") == ()


def test_a_copy_has_the_bytes_and_the_holes_of_its_file(tmp_path: Path) -> None:
    file, copy = tmp_path / "index", tmp_path / "copy"
    with file.open("wb") as index:
        index.write(b"entry")
        index.seek(1 << 22)
        index.write(b"last")
        index.truncate(1 << 23)
    copy_sparse(file, copy)
    assert copy.read_bytes() == file.read_bytes()
    assert copy.stat().st_blocks <= file.stat().st_blocks
    os.mkfifo(tmp_path / "pipe")
    copy_sparse(tmp_path / "pipe", tmp_path / "other")
    assert not (tmp_path / "other").exists()


KILLED = (inject("dead", KillParameters(nodes="leader:t-0")), Heal(fault="dead"))


def _of(name: str, *steps: Step) -> Plan:
    usual = plan_of(Workload(action="start"), *steps)
    producers = tuple(each.model_copy(update={"topic": name}) for each in usual.workload.producers)
    workload = usual.workload.model_copy(update={"producers": producers, "consumers": ()})
    return usual.model_copy(update={"topics": (TopicSpec(name=name, assignments=((4, 5),)),), "workload": workload})


def _pids(folder: RunFolder) -> dict[str, int]:
    return {event.id: event.data["pid"] for event in read_journal(folder.journal).of("node", "started")}


@pytest.mark.integration
def test_the_second_run_has_the_processes_of_the_first_and_a_folder_of_its_own(tmp_path: Path) -> None:
    with LivingCluster() as living:
        first, of_first = run(_of("t", *KILLED), tmp_path, living=living)
        second, of_second = run(_of("t2"), tmp_path, living=living)
    assert (of_first.verdict, of_second.verdict) == (Verdict.PASS, Verdict.PASS), of_second.findings
    assert _pids(first).items() >= {"node-1": _pids(second)["node-1"]}.items()
    assert saved_plans(second.path / CHAIN) == (_of("t", *KILLED),)
    decided = [event.data for event in read_journal(second.journal).of("state") if event.node is None]
    of_t = [data["leader_epoch"] for data in decided if data.get("topic") == "t"]
    assert len(of_t) == 1 and of_t[0] > 0, "what was decided before is one state"
    assert not (first.path / CHAIN).exists()
    assert (second.nodes / "node-4" / "data" / "t2-0").is_dir()
    assert not (second.nodes / "node-4" / "data" / "t-0").exists()
    assert list((tmp_path / ".clusters").iterdir()) == []


def _unset(cluster: Cluster) -> None:
    """Remove the setting of a topic, by a request that no run records."""
    change = {"name": "retention.ms", "config_operation": 1, "value": None}
    resource = {"resource_type": 2, "resource_name": "t", "configs": [change]}
    body = {"resources": [resource], "validate_only": False}
    with connect(cluster.probe_address("node-4", Listener.CLIENT), 2.0) as connection:
        request, response = messages.payload_types("incremental_alter_configs", 1)
        connection.call(messages.build(request, body, lambda _: messages.UNKNOWN), response)


@pytest.mark.integration
@pytest.mark.requirement("MDL-03")
def test_what_is_lost_between_two_plans_is_a_violation_of_the_second(tmp_path: Path) -> None:
    with LivingCluster() as living:
        topic = TopicSpec(name="t", assignments=((4, 5),), config={"retention.ms": "100000000"})
        _, of_first = run(_of("t").model_copy(update={"topics": (topic,)}), tmp_path, living=living)
        assert living._cluster is not None
        _unset(living._cluster)
        second, of_second = run(_of("t2"), tmp_path, living=living)
    assert (of_first.verdict, of_second.verdict) == (Verdict.PASS, Verdict.VIOLATION)
    [broken] = [each for each in of_second.findings if each.verdict is Verdict.VIOLATION]
    assert (broken.requirement, "describes t as no settings" in broken.message) == ("MDL-03", True)
    assert judge_folder(second).verdict is Verdict.VIOLATION, "its folder has all that it is judged by"

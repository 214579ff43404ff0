"""The summary of what is broken, from the plain state of a cluster."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from fencepost.harness.cli.cluster_state import broken_parts
from fencepost.harness.cli.status import status_tables


def node(id: int, state: str = "running", **more: Any) -> dict[str, Any]:
    says = "serving" if state == "running" else ""
    known = {"name": f"node-{id}", "id": id, "roles": "broker", "duplicate": False, "state": state, "says": says}
    return {**known, "end": None, "registered": "active", **more}


def partition(leader: int, isr: list[int], name: str = "t-0") -> dict[str, Any]:
    return {"name": name, "leader": leader, "epoch": 1, "isr": isr, "replicas": [4, 5]}


def broken(*nodes: dict[str, Any], **more: Any) -> list[str]:
    status = {"nodes": list(nodes), "partitions": [], "faults": [], "controller": "node-1"}
    return broken_parts(status | more, has_controllers=True, zookeeper_answers=True)


def test_nothing_is_broken_in_a_cluster_that_works() -> None:
    assert broken(node(4), node(5), partitions=[partition(4, [4, 5])]) == []


def test_a_node_that_ended_tells_how() -> None:
    ended = node(5, "exited", end="node-5 ended with exit code 1: all log dirs have failed", registered="gone")
    assert broken(node(4), ended) == ["node-5 ended with exit code 1: all log dirs have failed"]


def test_a_node_that_a_fault_stopped_names_the_fault() -> None:
    faults = [{"name": "nap", "nodes": ["node-5"]}]
    assert broken(node(5, "paused"), faults=faults) == ["node-5 is paused, by nap"]
    assert broken(node(5, "exited", end="node-5 ended with signal SIGKILL"), faults=faults) == [
        "node-5 is exited, by nap"
    ]


def test_a_node_that_runs_and_does_not_serve_is_broken() -> None:
    assert broken(node(5, says="silent", registered="fenced")) == [
        "node-5 runs, but its answer is `silent`",
        "node-5 is fenced",
    ]


def test_partitions_that_no_running_broker_leads_are_broken() -> None:
    partitions = [partition(5, [4, 5]), partition(-1, [4, 5], "t-1"), partition(4, [4, 5], "t-2")]
    ended = node(5, "exited", end="node-5 ended with exit code 1")
    assert broken(node(4), ended, partitions=partitions)[1:] == ["no running broker leads t-0, t-1"]


def test_replicas_out_of_sync_are_broken() -> None:
    partitions = [partition(4, [4]), partition(4, [4], "t-1")]
    assert broken(node(4), node(5), partitions=partitions) == ["the replica of broker 5 is not in sync: t-0, t-1"]


def test_no_controller_and_a_silent_zookeeper_are_broken() -> None:
    status = {"nodes": [node(4)], "partitions": [], "faults": [], "controller": None}
    assert broken_parts(status, has_controllers=True, zookeeper_answers=True) == ["no controller is active"]
    assert broken_parts(status, has_controllers=False, zookeeper_answers=True) == []
    [message] = broken_parts(status, has_controllers=False, zookeeper_answers=False)
    assert message.startswith("no ZooKeeper server answers")


@pytest.mark.parametrize("broken_first", [True, False])
def test_the_status_ends_or_begins_with_what_is_broken(broken_first: bool) -> None:
    status: dict[str, Any] = {
        "target": "quorum:1",
        "backend": "process",
        "run": "runs/1",
        "bootstrap": "127.0.0.1:9092",
    }
    status |= {"nodes": [], "partitions": [], "problems": [], "broken": ["no controller is active"], "faults": []}
    console = Console(width=100, file=StringIO(), record=True)
    console.print(status_tables(status, broken_first=broken_first))
    said = [line.strip() for line in console.export_text().splitlines() if line.strip()]
    assert said[2 if broken_first else -2] == "no controller is active"
    assert said[3 if broken_first else -1] == "no fault is active"


def test_a_duplicate_that_was_never_started_or_was_refused_is_not_broken() -> None:
    waiting = node(4, "never started", duplicate=True, registered=None)
    refused = node(4, "exited", duplicate=True, end="node-4b ended with exit code 1")
    assert broken(node(4), waiting, refused) == []

"""The nodes and links that a fault names."""

from __future__ import annotations

from fencepost.results.records.fault_targets import FaultTargets


def test_every_node_that_an_intent_names_is_touched() -> None:
    named = FaultTargets.of({"node": "a", "nodes": ["b"], "links": [{"from": "c", "to": "d"}]})
    assert named.nodes == {"a", "b"}
    assert named.links == {frozenset("cd")}
    assert named.touched == {"a", "b", "c", "d"}


def test_an_intent_that_names_no_node_touches_none() -> None:
    assert FaultTargets.of({"fault": "cut", "nodes": [], "node": None}).touched == frozenset()

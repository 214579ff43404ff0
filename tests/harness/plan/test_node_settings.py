"""Configuration keys of single nodes survive the file, and those of the harness are for nodes that start later."""

from __future__ import annotations

import pytest

from fencepost.harness.plan.file import PlanError, dump_plan, parse_plan

PLAN = """\
format: fencepost-plan/2
scenario: own-settings
title: A node has settings of its own
document: KIP-631
seed: 1
target: quorum
topology:
  nodes:
  - {name: node-1, id: 1, index: 1, roles: [controller], settings: {metrics.listener: '{address}:9404'}}
  - {name: node-4, id: 4, index: 4, roles: [broker]}
  - {name: node-5, id: 5, index: 5, roles: [broker], start: later, settings: {broker.id: null, log.dirs: 'a,b'}}
"""


def test_a_setting_with_a_value_and_one_that_is_left_out_survive_the_round_trip() -> None:
    plan = parse_plan(PLAN, "plan.yaml")
    assert plan.node("node-5").settings == {"broker.id": None, "log.dirs": "a,b"}
    assert parse_plan(dump_plan(plan), "again.yaml") == plan


def test_a_node_that_starts_with_the_cluster_keeps_the_keys_of_the_harness() -> None:
    with pytest.raises(PlanError, match=r"`broker\.id` is set by the harness.*give node-5 `start: later`"):
        parse_plan(PLAN.replace("start: later, ", ""), "plan.yaml")

"""Directories and ids of nodes in a plan, and how a mistake in them is refused."""

from __future__ import annotations

import pytest

from fencepost.harness.plan.file import PlanError, dump_plan, parse_plan

PLAN = """\
format: fencepost-plan/2
scenario: swapped
title: Two brokers find each other's disks
document: Faults
seed: 1
target: quorum
topology:
  nodes:
  - {name: node-1, id: 1, index: 1, roles: [controller]}
  - {name: node-4, id: 4, index: 4, roles: [broker]}
  - {name: node-5, id: 5, index: 5, roles: [broker]}
  - {name: node-4b, id: 4, index: 14, roles: [broker], start: later, duplicate_of: node-4, directory: same}
steps:
- {do: backup, as: monday, node: node-4}
- {do: inject, fault: restored, as: back, node: node-4, backup: monday}
- {do: inject, fault: swapped, as: swap, nodes: [node-4, node-5]}
- {do: inject, fault: foreign-cluster, as: mount, node: node-4, id: AAAAAAAAAAAAAAAAAAAAAA}
- {do: inject, fault: changed-id, as: renumber, node: node-4, id: 9}
- {do: inject, fault: crash-loop, as: loop, node: node-4, lives_ms: [100, 2000], until: ready, says: "started$"}
- {do: inject, fault: late-bytes, as: late, node: node-4, to: [node-5, controllers], queued_ms: 300}
"""


def test_the_words_survive_their_round_trip() -> None:
    plan = parse_plan(PLAN, "plan.yaml")
    assert parse_plan(dump_plan(plan), "again.yaml") == plan


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("backup: monday", "backup: tuesday", "no backup `tuesday` comes before this; so far: monday"),
        ("nodes: [node-4, node-5]", "nodes: [node-4]", "two nodes exchange their directories, but 1 are named"),
        (", duplicate_of: node-4", "", "`directory: same` is for a duplicate"),
        ("id: AAAAAAAAAAAAAAAAAAAAAA", "id: other", "`id` at plan.yaml:17"),
        ("lives_ms: [100, 2000]", "lives_ms: []", "`lives_ms` at plan.yaml:19"),
        ('"started$"', '"started("', "started( is not a regular expression"),
    ],
)
def test_what_cannot_mean_anything_is_refused_with_its_line(right: str, wrong: str, message: str) -> None:
    assert right in PLAN
    with pytest.raises(PlanError) as refused:
        parse_plan(PLAN.replace(right, wrong), "plan.yaml")
    assert message in str(refused.value)

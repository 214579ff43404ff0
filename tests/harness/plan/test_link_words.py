"""Faults of links in a plan, and how a mistake in them is refused."""

from __future__ import annotations

import pytest

from fencepost.harness.plan.file import PlanError, dump_plan, parse_plan

PLAN = """\
format: fencepost-plan/2
scenario: links
title: Links are broken
document: Faults
seed: 1
target: quorum
topology:
  nodes:
  - {name: node-1, id: 1, index: 1, roles: [controller]}
  - {name: node-4, id: 4, index: 4, roles: [broker]}
  - {name: node-5, id: 5, index: 5, roles: [broker]}
  sites: [main, far]
topics:
- {name: t, assignments: [[4, 5]]}
steps:
- {do: inject, fault: bridge, as: split, nodes: leader:t-0, from: controllers, over: followers:t-0, how: blackhole}
- {do: inject, fault: ring, as: circle, nodes: [node-4, node-5, node-1], how: stall}
- {do: inject, fault: flapping, as: flap, nodes: node-4, from: node-5, on_ms: 800, off_ms: 900, count: 2, how: stall}
- {do: inject, fault: slow, as: slow, from: site:main, to: node-5, latency_ms: 20, rate_kb: 5, streams: replies}
- {do: inject, fault: cut-after-bytes, as: tear, from: [site:main, node-5], to: node-4, after_bytes: 7}
- {do: inject, fault: reset, as: reset, from: node-4, to: active-controller}
- {do: inject, fault: one-way, as: half, from: node-4, to: node-5, how: blackhole}
- {do: inject, fault: blackhole, as: gone, from: node-4, to: node-5, streams: requests}
"""


def test_the_words_survive_their_round_trip() -> None:
    plan = parse_plan(PLAN, "plan.yaml")
    assert parse_plan(dump_plan(plan), "again.yaml") == plan


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("over: followers:t-0", "over: node-7", "unknown node `node-7`"),
        ("over: followers:t-0, ", "", "over"),
        ("on_ms: 800", "on_ms: 700", "what flaps by `stall` needs 800 ms for each change to show"),
        ("latency_ms: 20, rate_kb: 5, ", "", "what is slow has `latency_ms`, `rate_kb` or both"),
        ("latency_ms: 20", "latency_ms: 9", "a latency below 10 ms"),
        ("from: site:main", "from: site:near", "unknown client site `site:near`; known: site:far, site:main"),
        ("from: site:main", "from: site:probe", "unknown client site `site:probe`"),
        ("from: site:main", "from: site:far", "the links of `site:far` carry no client"),
        ("to: active-controller", "to: site:main", "unknown node `site:main`"),
        ("after_bytes: 7", "after_bytes: 0", "after_bytes"),
        ("how: blackhole}\n- {do: inject, fault: blackhole", "how: cut}\n- {do: inject, fault: blackhole", "how"),
    ],
)
def test_what_cannot_be_done_is_refused(right: str, wrong: str, message: str) -> None:
    with pytest.raises(PlanError) as refused:
        parse_plan(PLAN.replace(right, wrong), "plan.yaml")
    assert message in str(refused.value)

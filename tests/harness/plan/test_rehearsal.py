"""Failures that a plan shows are refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.faults.parameters import names_in
from fencepost.faults.registry import FAULTS
from fencepost.harness.engine.run import check
from fencepost.harness.plan.file import PlanError, parse_plan
from fencepost.harness.plan.rehearsal import problems_to_run
from tests.faults.cases import CASES
from tests.faults.fake import cluster_of

HEAD = """\
format: fencepost-plan/2
scenario: two
title: Two faults
document: Faults
seed: 1
target: zk-controller
topology:
  nodes:
  - {name: zk-1, id: 1, index: 1, roles: [zookeeper]}
  - {name: node-4, id: 4, index: 4, roles: [broker], log_dirs: 2}
  - {name: node-5, id: 5, index: 5, roles: [broker]}
  - {name: node-6, id: 6, index: 6, roles: [broker], disk: breakable, clock: own}
topics:
- {name: t, assignments: [[4, 5, 6]]}
steps:
"""
STALL = "- {do: inject, as: stall, fault: stall, from: node-4, to: node-5}\n"
PAUSE = "- {do: inject, as: pause, fault: pause, nodes: [node-5]}\n"


def messages(steps: str) -> list[str]:
    return [problem.message for problem in problems_to_run(parse_plan(HEAD + steps, "plan.yaml"))]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (
            STALL + "- {do: inject, as: slow, fault: slow, from: brokers, to: node-5, latency_ms: 50}\n",
            "`slow` is aimed at node-4 to node-5, which `stall` holds: heal that first, or give one fault both effects",
        ),
        (
            PAUSE + "- {do: inject, as: kill, fault: kill, nodes: brokers}\n",
            "`kill` is aimed at node-5, which `pause` holds: heal that first",
        ),
        (PAUSE + STALL, "`stall` holds bytes back at node-5 while `pause` pauses it: do it before the pause"),
        (
            STALL + PAUSE + "- {do: heal, fault: stall}\n",
            "`stall` holds bytes back at node-5: heal `pause`, which pauses it, first",
        ),
        (
            "- {do: inject, as: full, fault: disk-full, node: node-5}\n",
            "`full` cannot be injected: the disk of node-5 is plain: give it `disk: breakable` in the topology",
        ),
        (
            "- {do: inject, as: dark, fault: power-loss, nodes: brokers}\n",
            "`dark` cannot be injected: the disk of node-4 is plain",
        ),
        (
            "- {do: inject, as: gone, fault: log-dir, node: node-4, dir: 2}\n",
            "`gone` cannot be injected: node-4 has no log directory 2: it has 2, counted from 0",
        ),
        (
            "- {do: inject, as: empty, fault: emptied, nodes: zookeeper}\n",
            "`empty` cannot be injected: zk-1 is a ZooKeeper server, whose directories and id are left alone",
        ),
        (
            "- {do: inject, as: self, fault: cut, from: node-4, to: node-4}\n",
            "`self` is aimed at no link: name two different nodes, or groups of nodes",
        ),
    ],
)
def test_what_the_plan_shows_is_refused(steps: str, message: str, tmp_path: Path) -> None:
    assert [each for each in messages(steps) if each.startswith(message)]
    with pytest.raises(PlanError, match=r"steps\.\d"):
        check(parse_plan(HEAD + steps, "plan.yaml"), tmp_path, "process")


@pytest.mark.parametrize(
    "steps",
    [
        STALL + "- {do: heal, fault: stall}\n" + STALL.replace("as: stall", "as: again"),
        STALL + "- {do: heal-all}\n" + STALL.replace("as: stall", "as: again"),
        STALL + "- {do: inject, as: back, fault: slow, from: node-5, to: node-4, latency_ms: 50}\n",
        STALL + PAUSE + "- {do: heal, fault: pause}\n- {do: heal, fault: stall}\n",
        PAUSE + STALL.replace("stall", "cut"),
        "- {do: inject, as: full, fault: disk-full, node: node-6}\n",
        "- {do: inject, as: full, fault: disk-full, node: 'leader:t-0'}\n",
        PAUSE + "- {do: inject, as: kill, fault: kill, nodes: 'leader:t-0'}\n",
    ],
)
def test_what_may_be_right_is_not_refused(steps: str) -> None:
    assert messages(steps) == []


def test_a_role_that_no_node_with_such_a_disk_can_have_is_refused() -> None:
    plan = HEAD.replace(", disk: breakable", "") + "- {do: inject, as: full, fault: disk-full, node: 'leader:t-0'}\n"
    (problem,) = problems_to_run(parse_plan(plan, "plan.yaml"))
    assert problem.message.startswith("`full` cannot be injected: the disk of")


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_each_fault_is_built_from_its_parameters_alone(name: str) -> None:
    parameters = FAULTS[name].Parameters.model_validate(dict(CASES[name].real))
    fault = FAULTS[name](cluster_of(), parameters.resolved(str, names_in))
    assert fault.targets()
    assert isinstance(fault.nodes(), frozenset)
    assert isinstance(fault.links(), frozenset)

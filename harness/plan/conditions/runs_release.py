"""A node runs one of the two releases of an upgrade."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from fencepost.harness.plan.base import NodeRef, Release
from fencepost.harness.plan.conditions.condition import AwaitStep, Evaluation
from fencepost.harness.plan.observed import Observed
from fencepost.harness.plan.upgraded import release_problems

if TYPE_CHECKING:
    from fencepost.harness.plan.model import Plan


class RunsRelease(AwaitStep):
    """The log of the node's present process says that it runs the old or the new release of a target with two."""

    phrase = "{node} runs the {release} release"
    condition: Literal["release"] = "release"
    node: NodeRef
    release: Release

    def problems(self, plan: Plan) -> Iterator[tuple[str, str]]:
        return release_problems(self.release, self.node, plan)

    def evaluation(self, run: Observed, name: str) -> Evaluation:
        node = run.node(self.node)
        return Evaluation(
            lambda: run.running_release(node) == run.version_of(self.release),
            lambda: f"the measured release is that of the log of {node}",
            lambda: {"node": node, "release": run.running_release(node)},
        )

"""Restart a node with another release or at another protocol level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import model_validator

from fencepost.harness.plan.base import Name, NodeRef, Release
from fencepost.harness.plan.performed import READY_WITHIN, Performed
from fencepost.harness.plan.step_error import StepError
from fencepost.harness.plan.steps.step import PlanStep
from fencepost.harness.plan.upgraded import release_problems

if TYPE_CHECKING:
    from fencepost.harness.plan.model import Plan

ENDED_WITHIN = 60.0
"""Seconds for a node that is rolled to hand over what it leads and end."""


class Roll(PlanStep):
    """Restart a node with another release or at another protocol level, and wait until it serves.

    It is one move of a rolling upgrade, or of a downgrade.
    """

    phrase = "Restart {node}"
    do: Literal["roll"] = "roll"
    as_: Name | None = None
    node: NodeRef
    release: Release | None = None
    """The release with which it starts: the `old` or the `new` one of a target such as `apache-kafka:3.9.2..4.4.0`. Its
    log has to say that it runs it. None: the present one."""
    level: Name | None = None
    """A name in `levels:` of the target file. A target with ZooKeeper that is upgraded also has `old` and `new`: the
    protocol versions of its two releases. None: the present level."""
    how: Literal["shutdown", "kill"] = "shutdown"

    @model_validator(mode="after")
    def _changes_something(self) -> Roll:
        if self.release is None and self.level is None:
            raise ValueError("a roll step has `release`, `level`, or both")
        return self

    @property
    def clause(self) -> str:
        verb = "Downgrade" if self.release == "old" else "Upgrade"
        words = f"{verb} {{node}} to the {{release}} release" if self.release else self.phrase
        return words + (" at the level {level}" if self.level else "")

    def problems(self, plan: Plan) -> Iterator[tuple[str, str]]:
        return release_problems(self.release, self.node, plan) if self.release is not None else iter(())

    def perform(self, run: Performed, name: str) -> Mapping[str, Any]:
        node, processes = run.node(self.node), run.processes
        if self.how == "kill":
            processes.kill(node)
        else:
            processes.shut_down(node)
            if not processes.await_end(node, ENDED_WITHIN):
                raise StepError(f"{node} did not end within {ENDED_WITHIN:g} s of SIGTERM, so it could not be rolled")
        run.set_version(node, self.release, self.level)
        processes.start(node)
        processes.await_ready(node, READY_WITHIN)
        done = {"node": node} | ({"level": self.level} if self.level is not None else {})
        if self.release is not None:
            done["release"] = run.await_release(node, self.release, READY_WITHIN)
        return done

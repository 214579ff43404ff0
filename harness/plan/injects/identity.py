"""Steps that let somebody claim what is not its own: `faults.identity`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from harness.plan.base import NodeRef, NodeRefs
from harness.plan.injects.base import InjectStep


class InjectDuplicate(InjectStep):
    """Start the topology's second process for an id (`duplicate_of`). Healed by ending it."""

    fault: Literal["duplicate"] = "duplicate"
    node: NodeRef


class InjectSwapped(InjectStep):
    """Two nodes are killed, exchange their log directories, and start again. Healed by changing them back."""

    fault: Literal["swapped"] = "swapped"
    nodes: NodeRefs


class InjectForeignCluster(InjectStep):
    """Killed, its directories say that they belong to the cluster `id`, and it starts again. Healed by its own."""

    fault: Literal["foreign-cluster"] = "foreign-cluster"
    node: NodeRef
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")] = "f0reignClusterId0000AA"


class InjectChangedId(InjectStep):
    """Killed, its configuration has the id `id` (None: one that nobody has), and it starts again. Healed by its own."""

    fault: Literal["changed-id"] = "changed-id"
    node: NodeRef
    id: Annotated[int, Field(ge=0)] | None = None


InjectIdentity = InjectDuplicate | InjectSwapped | InjectForeignCluster | InjectChangedId

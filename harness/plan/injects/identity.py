"""Steps that let somebody claim what is not its own: `faults.identity`."""

from __future__ import annotations

from typing import Literal

from harness.plan.base import NodeRef
from harness.plan.injects.base import InjectStep


class InjectDuplicate(InjectStep):
    """Start the topology's second process for a broker id (`duplicate_of`). Healed by ending it."""

    fault: Literal["duplicate"] = "duplicate"
    node: NodeRef


InjectIdentity = InjectDuplicate

"""The shape of a fault.

    set_up ──> inject ──> verify ══ proven ══> (held) ──> recover ──> verify_healed ══ healed
       │                    ╚══ unproven: the run can conclude nothing
       └── CapabilityError: nothing was broken

Whoever drives a fault journals the intent between `set_up` and `inject`, with `targets()`. `recover` may be called
twice, or after an `inject` that failed half way. `verify` and `verify_healed` measure; that nothing raised is no proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

from faults.capabilities import Capability, Evidence


class Fault(Protocol):
    """One way to break a cluster, aimed at named nodes or links."""

    name: ClassVar[str]
    capability: ClassVar[Capability]

    def targets(self) -> Mapping[str, object]:
        """What it is aimed at, for the journal: JSON only."""

    def nodes(self) -> frozenset[str]:
        """The nodes whose processes it breaks."""

    def links(self) -> frozenset[tuple[str, str]]:
        """The links that it breaks. Two faults on one link at a time are refused: healing one would heal both."""

    def set_up(self) -> None:
        """Check that it can be done now and measure what healthy looks like."""

    def inject(self) -> None: ...

    def verify(self) -> Evidence: ...

    def recover(self) -> None: ...

    def verify_healed(self) -> Evidence: ...

"""The base of all faults.

    set_up ──> inject ──> verify ══ proven ══> (held) ──> recover ──> verify_healed ══ healed
       │                    ╚══ unproven: the run can conclude nothing
       └── CapabilityError: nothing was broken

A fault is one module in one of the family packages (`links`, `messages`, `processes`, `identity`, `users`, `disks`,
`clock`, `containers`). The module declares its parameters, its behaviour and proof, how random plans generate it, and
how the script of a bundle expresses it. `fencepost.faults.registry` finds it there; plans, the command line, campaigns
and the table in `README.md` take it from the registry.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar

from fencepost.faults.capabilities import Capability, Cluster, Evidence
from fencepost.faults.generation import BreakableCluster, GeneratedFault
from fencepost.faults.parameters import FaultParameters

EVERYWHERE = "*"


class BundleScript(Enum):
    """The way in which the script of a bundle does what the fault did, without the harness."""

    PROCESS_EVENTS = "process events"
    """By the starts and ends of processes that the journal has."""
    LINK_EFFECTS = "link effects"
    """By the effects on links that `targets` lists."""
    LINK_EFFECTS_ONCE = "link effects once"
    """As `LINK_EFFECTS`, but the effects came and went; the journal has the begin and the end only."""
    NOTHING = "nothing"
    """The script leaves it out and says so."""


class Fault(ABC):
    """One way to break a cluster, aimed at named nodes or links.

    The engine journals the intent, with `targets`, between `set_up` and `inject`. `recover` may be called twice, or
    after an `inject` that failed half way. `verify` and `verify_healed` measure: a call that returned is no proof.
    """

    name: ClassVar[str]
    """The name in plans and on the command line. A class without one is a base of several faults."""
    phrase: ClassVar[str]
    """The state that the fault makes, as a clause in the present tense: `{from} are cut off from {to}`.

    Parameters stand in braces; an `are` right after nodes becomes `is` if there is one."""
    capability: ClassVar[Capability]
    """The capability that target, backend and machine must have."""
    Parameters: ClassVar[type[FaultParameters]]

    weight: ClassVar[int] = 0
    """The frequency in random plans, relative to the other faults. 0: random plans never have it."""
    left_out: ClassVar[Mapping[str, str]] = {}
    """The reasons why random plans do not have it, by target, or for all of them (`EVERYWHERE`)."""

    counts_bytes: ClassVar[bool] = False
    """True if it, and its proof, count the bytes of Kafka's messages on a link: under TLS others are there."""
    bundle_script: ClassVar[BundleScript] = BundleScript.NOTHING

    @abstractmethod
    def __init__(self, cluster: Cluster, parameters: Any) -> None:
        """Take the fault's `Parameters`, with the names of nodes in place of references."""

    @classmethod
    def generate(cls, rng: random.Random, cluster: BreakableCluster) -> GeneratedFault | None:
        """Return a random fault of this kind for a cluster; None if the cluster has nothing that it can hit."""
        return None

    @abstractmethod
    def targets(self) -> Mapping[str, object]:
        """Return the nodes or links that it is aimed at, for the journal: JSON only."""

    def nodes(self) -> frozenset[str]:
        """Return the nodes whose processes it breaks. Other faults may hit the processes of all others meanwhile."""
        return frozenset()

    def links(self) -> frozenset[tuple[str, str]]:
        """Return the links that it breaks. Two faults on one link at a time are refused: healing one heals both."""
        return frozenset()

    @abstractmethod
    def set_up(self) -> None:
        """Measure the healthy state. Raise CapabilityError if the fault cannot be injected now."""

    @abstractmethod
    def inject(self) -> None: ...

    @abstractmethod
    def verify(self) -> Evidence: ...

    @abstractmethod
    def recover(self) -> None: ...

    @abstractmethod
    def verify_healed(self) -> Evidence: ...

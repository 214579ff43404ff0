"""Requests arrive late, when the cluster may have gone on."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import ClassVar

from fencepost.faults.capabilities import Fate
from fencepost.faults.messages.message_fault import Counted, MessageFault, MessageParameters
from fencepost.faults.parameters import Milliseconds


class LateRequestParameters(MessageParameters):
    """Requests of `api` that `from` sends to `to` wait in the link: the `nth`, and `count` in all on each link."""

    held_ms: Milliseconds = 0
    """The time that each waits; 0: until healing, such as after a failover."""


class LateRequest(MessageFault):
    """Requests of one API that `from` sends to `to` arrive `held_ms` later, or at healing, and what is sent behind one
    on its connection waits behind it.

    One arrives though its sender has given up and ended the connection meanwhile, or has died. If its receiver has
    ended the connection, it arrives nowhere, and the proof of healing says so.
    Models a request that is retransmitted for a long time, or waits in the buffer of a host that is slow: it takes
    effect after a failover that it did not know of. Does not model one that is overtaken by a later request on the same
    connection, which TCP excludes.
    Source: Kafka protocol guide, network; a toxic of this project in Toxiproxy, and its count.
    """

    name: ClassVar[str] = "late-request"
    phrase = "{api} requests from {from} to {to} arrive late"
    Parameters = LateRequestParameters
    parameters: LateRequestParameters
    weight = 3
    done = "held"
    summary = "delay a request of {api} from {aim} to {to}"

    @classmethod
    def random_parameters(cls, rng: random.Random) -> Mapping[str, object]:
        return {"held_ms": rng.choice((0, 0, 500, 3000))}

    @property
    def fate(self) -> Fate:
        return Fate.HOLD

    @property
    def hold_ms(self) -> int:
        return self.parameters.held_ms

    def _summary(self, counts: Counted) -> str:
        held, delivered, undelivered = (
            sum(getattr(count, name) for count in counts.values()) for name in ("held", "delivered", "undelivered")
        )
        refused = f", and of {undelivered} the receiver had ended the connection" if undelivered else ""
        return f"{delivered} of {held} late messages were delivered{refused}"

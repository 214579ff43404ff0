"""Requests are lost on their way."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import ClassVar, Literal

from fencepost.faults.capabilities import Fate
from fencepost.faults.messages.message_fault import MessageFault, MessageParameters


class LossParameters(MessageParameters):
    connection: Literal["silent", "ended"] = "silent"
    """The connection stays open and brings nothing more in this direction, or it ends at once."""


class LostRequestParameters(LossParameters):
    """Requests of `api` that `from` sends to `to` never arrive: the `nth`, and `count` in all on each link."""


class LostMessage(MessageFault):
    """The base of both losses."""

    Parameters: ClassVar[type[LossParameters]]
    parameters: LossParameters
    done = "lost"

    @classmethod
    def random_parameters(cls, rng: random.Random) -> Mapping[str, object]:
        return {"connection": rng.choice(("silent", "silent", "ended"))}

    @property
    def fate(self) -> Fate:
        return Fate.LOSE if self.parameters.connection == "silent" else Fate.END


class LostRequest(LostMessage):
    """Requests of one API that `from` sends to `to` never arrive: nothing is done of what they ask.

    A connection that is `silent` loses with the request all that is sent behind it. Its sender waits until its own
    timeout, or until healing, which ends the connection.
    Models a path that dies between two packets, so that this request is the first one missing; with `ended`, a
    connection that breaks just before the request leaves. Does not model a request that is missing between others that
    arrive, which TCP excludes.
    Source: Kafka protocol guide, network; a toxic of this project in Toxiproxy, and its count.
    """

    name: ClassVar[str] = "lost-request"
    phrase = "{api} requests from {from} to {to} are lost"
    Parameters = LostRequestParameters
    weight = 2
    summary = "lose a request of {api} from {aim} to {to}"

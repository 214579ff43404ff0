"""Requests arrive twice."""

from __future__ import annotations

from typing import ClassVar

from fencepost.faults.capabilities import Fate
from fencepost.faults.messages.message_fault import MessageFault, MessageParameters


class RepeatedRequestParameters(MessageParameters):
    """Requests of `api` that `from` sends to `to` arrive twice: the `nth`, and `count` in all on each link."""


class RepeatedRequest(MessageFault):
    """Requests of one API that `from` sends to `to` arrive twice, one right behind the other. The client gets the
    second answer, and never sees the first.

    Models a client that repeats a request after the answer to it was lost, with nothing between the two: what cannot be
    done twice has to be recognized. Does not model a repetition on another connection, or after other requests.
    Source: Kafka protocol guide, network; a toxic of this project in Toxiproxy, and its count.
    """

    name: ClassVar[str] = "repeated-request"
    phrase = "{api} requests from {from} to {to} arrive twice"
    Parameters = RepeatedRequestParameters
    weight = 3
    done = "repeated"
    summary = "repeat a request of {api} from {aim} to {to}"

    @property
    def fate(self) -> Fate:
        return Fate.TWICE

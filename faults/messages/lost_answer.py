"""Answers are lost on their way back, after their requests were performed."""

from __future__ import annotations

from typing import ClassVar

from fencepost.faults.capabilities import Part
from fencepost.faults.messages.lost_request import LossParameters, LostMessage


class LostAnswerParameters(LossParameters):
    """Answers to requests of `api` that `from` sends to `to` never arrive: to the `nth`, and `count` in all on each
    link."""


class LostAnswer(LostMessage):
    """Requests of one API that `from` sends to `to` arrive and are answered, and the answers never arrive.

    A connection that is `silent` loses with the answer all that is answered behind it, while what is asked on it goes
    on arriving. It ends by the timeout of its client, or by healing.
    Models a path that dies between a request and its answer, so that a client cannot know whether it was performed;
    with `ended`, a connection that breaks just then. Does not model an answer that is missing between others that
    arrive, which TCP excludes.
    Source: Kafka protocol guide, network; a toxic of this project in Toxiproxy, and its count.
    """

    name: ClassVar[str] = "lost-answer"
    phrase = "answers to {api} requests from {from} to {to} are lost"
    Parameters = LostAnswerParameters
    part = Part.ANSWER
    weight = 3
    summary = "lose an answer to {api} from {aim} to {to}"

"""The bases of all requests that a probe sends."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan.answers import ProbeAnswer
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import After, ExpectOutcome, Milliseconds, Name, NodeRef, NodeRefs
from fencepost.harness.plan.dialect import Dialect
from fencepost.harness.plan.words import Word

if TYPE_CHECKING:
    from fencepost.harness.plan.model import Plan


class ProbeStep(Word):
    """A request to `node`, repeated `repeat` times, with a claim about the responses and about the state after it.

    A request is a subclass with the field `request`, its name in plans, and a `phrase`: an imperative.
    """

    named_by: ClassVar[str] = "request"
    called: ClassVar[str] = "request"
    only_in: ClassVar[tuple[Dialect, str] | None] = None
    """The one dialect that has the request, and the message about the step in a plan for another `{target}`."""

    if TYPE_CHECKING:
        request: str

    do: Literal["probe"] = "probe"
    as_: Name | None = None
    node: NodeRef
    timeout_ms: Milliseconds = 1000
    repeat: Annotated[int, Field(ge=1)] = 1
    every_ms: Milliseconds = 100
    background: bool = False
    """Begin the next step at once; the responses are judged when they arrive, or at the timeout."""
    after: After | None = None
    expect: ExpectOutcome | None = None
    unchanged: tuple[str, ...] = ()
    """Partitions (`t-0`: leader, epoch, ISR) and `brokers` (registrations) that the probe must not change."""

    @property
    def awaited_ms(self) -> int:
        """The time for which the request is sent again until its outcome is the one that is expected."""
        return 0

    @property
    def takes_any_final(self) -> bool:
        """Return whether, with nothing expected, an error that is not retriable ends the asking as `served` does."""
        return False

    @property
    def bound(self) -> Mapping[str, str]:
        """The names that the answer gives to values."""
        return {}

    @property
    def journalled(self) -> Mapping[str, object]:
        """The data of the request in the journal, beside its name."""
        return {}

    def uses(self) -> Iterator[tuple[str, str]]:
        """Yield (key, name) for each bound value that plain data in this request names, beside its references."""
        return iter(())

    @abstractmethod
    def ask(self, run: Asked) -> ProbeAnswer:
        """Send the request once, and return its answer. Raise NoAnswer without one, StepError if it cannot be sent."""
        raise NotImplementedError


class KafkaRequest(ProbeStep):
    """A request of Kafka's protocol, or of one that is framed as it is."""

    listener: ClassVar[Listener] = Listener.INTERNAL
    """The listener at which a broker receives the request. A controller has one listener for all."""

    user: str | None = None
    """The user that the request is sent as, in a plan with logins. None: that of the harness."""
    password: str | None = None
    """The password of the login. None: that of the user."""

    @property
    def received_at(self) -> Listener:
        return self.listener

    @property
    def logs_in(self) -> bool:
        return True

    def problems(self, plan: Plan) -> Iterator[tuple[str, str]]:
        if self.user is not None and not plan.secured.mechanisms:
            yield "user", "`user` needs a plan with logins, such as `security: sasl`"

    def ask(self, run: Asked) -> ProbeAnswer:
        return run.over_connection(self)

    @abstractmethod
    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        """Send the request over a connection, and read its answer. Raises as `ask` does."""
        raise NotImplementedError


class OfPartition(KafkaRequest):
    """A request about one partition."""

    topic: str
    partition: Annotated[int, Field(ge=0)] = 0

    @property
    def place(self) -> str:
        """The partition as references have it: `t-0`."""
        return f"{self.topic}-{self.partition}"


def isr_ids(refs: NodeRefs | None, present: tuple[int, ...], run: Asked) -> tuple[int, ...]:
    """Return the ids of the brokers that a request names for an ISR: `present` for None, no id for `none`."""
    if refs is None:
        return present
    return () if refs == "none" else tuple(run.id(node) for node in run.nodes(refs))


def named(ref: NodeRef, epoch: int | str, run: Asked) -> tuple[int, int]:
    """Return the id of the broker in whose name a request is sent, and the broker epoch that it claims."""
    broker = run.node(ref)
    claimed = run.broker_epoch(epoch, broker)
    return run.id(broker), claimed

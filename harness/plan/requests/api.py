"""A request of any API, as the plan has it written out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from fencepost.harness.network.layout import Listener
from fencepost.harness.plan import paths
from fencepost.harness.plan.answers import ProbeAnswer
from fencepost.harness.plan.asked import Asked, Connection
from fencepost.harness.plan.base import Milliseconds, Name
from fencepost.harness.plan.requests.claims import Claiming
from fencepost.harness.plan.step_error import StepError
from fencepost.harness.wire.versions import Api

if TYPE_CHECKING:
    from fencepost.harness.plan.model import Plan

LONGEST = 10_000
"""Characters of a response that the journal keeps."""


class ApiProbe(Claiming):
    """A request of any API of Kafka's protocol, written out, and claims about the fields of its response.

    It is sent to the client listener of a broker, or to a controller.
    """

    phrase = "Send {node} the request {api}"
    listener = Listener.CLIENT
    written = "body"
    request: Literal["api"] = "api"
    api: str
    """Its name in snake case: `create_partitions`."""
    version: Annotated[int, Field(ge=0)] | None = None
    """The newest version to send. The node may have only older ones. None: the newest that both sides know."""
    login: bool = True
    """False: do not log in, in a plan with logins."""
    to_peers: bool = False
    """Send it to the listener of a broker for its peers, as one of them."""
    body: dict[str, Any] = Field(default_factory=dict)
    """The fields of the request in snake case, as the message definition has them; durations in milliseconds. One that
    is missing has its default. `$name` stands for a bound value."""
    answer: dict[str, Any] = Field(default_factory=dict)
    """Values of the response, by path: `results[0].configs[name=retention.ms].value`; `topics[].name` is the list of
    all; null: there is nothing; `$name`: a bound value. With another value the outcome is `different`. Where it names
    an `error_code`, it alone says which errors there may be; else any error in the response is the outcome."""
    binds: dict[Name, str] = Field(default_factory=dict)
    """Names for values of the response, by path: later steps use them as `$name`."""
    within_ms: Milliseconds = 0
    """Ask again for so long until the outcome is the one that is expected (without `expect`: `served`). Only the last
    answer is judged; an outcome that must never be is judged in each."""
    until: Literal["served", "final"] = "served"
    """The answer that ends the asking where nothing is expected. `final`: any but an error that Kafka's protocol calls
    retriable; then it is no matter either if the node lacks the request."""

    @property
    def requests(self) -> tuple[str, ...]:
        return () if self.takes_any_final else (self.api,)

    @property
    def clause(self) -> str:
        return self.phrase if self.version is None else f"{self.phrase} at version {{version}}"

    @property
    def received_at(self) -> Listener:
        return Listener.INTERNAL if self.to_peers else Listener.CLIENT

    @property
    def logs_in(self) -> bool:
        return self.login

    @property
    def takes_any_final(self) -> bool:
        return self.until == "final"

    def problems(self, plan: Plan) -> Iterator[tuple[str, str]]:
        yield from self._request_problems()
        named = self._named_error
        if named is not None and self.expect is not None and self.expect.outcome.startswith("error:"):
            outcome = self.expect.outcome
            yield (
                "expect",
                f"`answer` names `{named}`, so errors are values of the response and the outcome is `served` or "
                f"`different`, never `{outcome}`: claim `outcome: served`, or take the error out of `answer`",
            )
        yield from super().problems(plan)

    def _request_problems(self) -> Iterator[tuple[str, str]]:
        """Check the request against the schema of its newest version."""
        from fencepost.harness.plan import messages  # loads kio, which few plans need before they run

        try:
            known = [each for each in messages.versions(self.api) if self.version is None or each <= self.version]
            if not known:
                raise paths.MessageError(f"`{self.api}` has no version {self.version} or older")
            messages.build(messages.payload_types(self.api, known[-1])[0], self.body, lambda _: messages.UNKNOWN)
        except paths.MessageError as error:
            yield "body", str(error)

    @property
    def _named_error(self) -> str | None:
        """The path in `answer` that names an error, if there is one."""
        return next((path for path in self.answer if path.endswith("error_code")), None)

    def exchange(self, connection: Connection, run: Asked) -> ProbeAnswer:
        """Send it at the newest version that both sides know. Raise StepError if the body does not fit that."""
        from fencepost.harness.plan import messages

        known = messages.versions(self.api)
        high = known[-1] if self.version is None else min(self.version, known[-1])
        version = connection.newest_version(Api(messages.APIS[self.api], self.api, self.api, known[0], high))
        request, response = messages.payload_types(self.api, version)
        try:
            sent = messages.build(request, self.body, run.value)
        except paths.MessageError as error:
            raise StepError(f"version {version} of {self.api}: {error}") from None
        answer = messages.plain(connection.call(sent, response))
        text = str(answer)
        shown = answer if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        code = paths.first_error(answer) if self._named_error is None else 0
        return self.judge(answer, run, code, api=self.api, version=version, response=shown)

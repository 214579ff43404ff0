"""The key `services` of a target file: programs beside the brokers, such as a database, one of each in a cluster.

A service is a node of the cluster: it has an address, a log and a folder, each broker reaches it by a link of its own,
and faults name it as they name a broker.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from pydantic.functional_validators import AfterValidator
from pydantic_core import PydanticCustomError

from fencepost.faults.parameters import PlanModel
from fencepost.harness.network.addresses import PROTOCOL_PORTS
from fencepost.harness.targets.process_template import CommandLine, Line, Template


def of_its_own(port: int) -> int:
    """Refuse a port by which the harness knows another protocol."""
    if port in PROTOCOL_PORTS:
        raise PydanticCustomError("port", "the port {port} is that of another protocol here", {"port": port})
    return port


def _as_bytes(text: str) -> str:
    try:
        bytes.fromhex(text)
    except ValueError:
        raise PydanticCustomError("ask", "Input should be bytes in hexadecimal digits: '0000000804d2162f'") from None
    return text


class Service(PlanModel):
    """How a service is started, and how it shows that it serves."""

    command: CommandLine
    port: Annotated[int, Field(ge=1024, le=32767), AfterValidator(of_its_own)]
    """The port at which it listens, at its own address."""
    environment: dict[str, Template] = Field(default_factory=dict)
    format: tuple[CommandLine, ...] = ()
    """Commands that are run once, with an empty folder `{{ data }}`."""
    ready: Literal["port"] | Line = "port"
    """The sign that it serves: it listens, or its log has such a line."""
    ask: Annotated[str, AfterValidator(_as_bytes)] | None = None
    """A question in hexadecimal digits that it answers at once, by which faults of its links are measured: for
    PostgreSQL `0000000804d2162f`. Without one only a `cut` of a link can be measured."""

    @property
    def question(self) -> bytes:
        return bytes.fromhex(self.ask or "")

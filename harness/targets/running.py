"""The key `running` of a target file: a cluster that runs elsewhere, and the commands of its owner that break it.

Its commands are Jinja templates, as those of `process` are. No shell reads them: a word is a word.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Self

from jinja2 import TemplateError, meta
from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from fencepost.faults.capabilities import Capability
from fencepost.faults.parameters import PlanModel
from fencepost.harness.network.addresses import Endpoint, parse_endpoint
from fencepost.harness.plan.security import ListenerSecurity
from fencepost.harness.targets.process_template import environment

VARIABLES: Final[Mapping[str, str]] = {
    "id": "the id of the broker",
    "name": "its name, as `running: name` makes it of the id",
    "host": "the host that it advertises to clients",
    "port": "the port that it advertises to clients",
    "folder": "the folder of the target file",
}
NOT_WITHOUT: Final = (("stop", "start"), ("pause", "resume"), ("cut", "heal"))
"""Commands that need another one, which undoes them. After `kill` some clusters start a broker by themselves."""
CAPABILITIES: Final = {
    "kill": Capability.KILL,
    "stop": Capability.TERMINATE,
    "pause": Capability.PAUSE,
    "cut": Capability.NETWORK,
}
_TEMPLATE = re.compile(r"{{.*?}}|{%.*?%}")
_HELD = "\0"
"""Stands for the parts of a command line that are templates, whose blanks separate no words."""


def words_of(command: str) -> list[str]:
    """Return the words of a command line as a shell has them; blanks in `{{ address }}` separate none.

    Raise ValueError if it cannot be read.
    """
    held = _TEMPLATE.findall(command)
    words = shlex.split(_TEMPLATE.sub(_HELD, command))
    templates = iter(held)
    return [re.sub(_HELD, lambda _: next(templates), word) for word in words]


def _split(command: Any) -> Any:
    if not isinstance(command, str):
        return command
    try:
        return words_of(command)
    except ValueError as error:
        raise PydanticCustomError("command", "no command line ({error})", {"error": str(error)}) from None


def _checked(text: str) -> str:
    try:
        named = meta.find_undeclared_variables(environment(Path()).parse(text))
    except TemplateError as error:
        raise PydanticCustomError("template", "{error}", {"error": f"no Jinja template ({error})"}) from None
    for name in sorted(named - VARIABLES.keys()):
        known = ", ".join(VARIABLES)
        raise PydanticCustomError(
            "template", "unknown variable `{name}`; there are {known}", {"name": name, "known": known}
        )
    return text


def _is_endpoint(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise PydanticCustomError("bootstrap", "write it as host:port, such as kafka.example:9092")
    return text


OwnTemplate = Annotated[str, AfterValidator(_checked)]
OwnCommand = Annotated[tuple[OwnTemplate, ...], BeforeValidator(_split), Field(min_length=1)]


class OwnSecurity(ListenerSecurity):
    """How clients connect. Where there is TLS, the name of each broker is verified."""

    user: str | None = None
    password_from: str | None = None
    """The variable of the environment that has the password: none is written into a file."""
    ca: Path | None = None
    """A PEM file with the authorities that are trusted. None: those of this machine."""

    @model_validator(mode="after")
    def _has_a_user_for_logins(self) -> Self:
        if self.mechanism is not None and not (self.user and self.password_from):
            raise ValueError(f"{self.protocol} needs `user` and `password_from`, the variable with the password")
        return self


class Commands(PlanModel):
    """The commands of the owner for one broker. A command has to return; what it did is measured from outside."""

    kill: OwnCommand | None = None
    """The broker ends without a word."""
    stop: OwnCommand | None = None
    """The broker ends on request."""
    start: OwnCommand | None = None
    """Starts it again. None: the cluster does so by itself after a `kill`."""
    pause: OwnCommand | None = None
    """The broker stands still, and its connections stay."""
    resume: OwnCommand | None = None
    cut: OwnCommand | None = None
    """The broker is off its network, for clients as well."""
    heal: OwnCommand | None = None
    """It is on its network again."""

    @model_validator(mode="after")
    def _can_be_undone(self) -> Self:
        for command, undo in NOT_WITHOUT:
            if getattr(self, command) and not getattr(self, undo):
                keys, hint = undo, f"nothing else undoes `{command}`"
                raise PydanticCustomError("missing_keys", "missing {keys}: {hint}", {"keys": keys, "hint": hint})
        return self


class Bounds(PlanModel):
    """The most that a plan may ask of the cluster. A plan that asks for more is refused before anything is sent."""

    records_per_second: Annotated[float, Field(gt=0, le=10_000)] = 500
    """The rate of all producers together."""
    record_bytes: Annotated[int, Field(ge=1, le=1 << 20)] = 1024
    records_at_once: Annotated[int, Field(ge=1, le=100_000)] = 1000
    """Those of one step."""
    partitions: Annotated[int, Field(ge=1, le=1000)] = 20
    """Those of all topics of a plan together."""


class Running(PlanModel):
    """A cluster that is there already, as its clients reach it, and what may be done to its brokers."""

    bootstrap: Annotated[tuple[Annotated[str, AfterValidator(_is_endpoint)], ...], Field(min_length=1)]
    name: OwnTemplate = "broker-{{ id }}"
    """The name of a broker in commands: `my-cluster-kafka-{{ id }}`."""
    security: OwnSecurity = OwnSecurity()
    commands: Commands = Commands()
    bounds: Bounds = Bounds()
    within_s: Annotated[float, Field(gt=0, le=600)] = 60
    """Seconds until the effect of a command has to show, and seconds for a broker to come back."""

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        return tuple(map(parse_endpoint, self.bootstrap))

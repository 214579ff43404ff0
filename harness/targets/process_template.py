"""The key `process` of a target file: how the driver `command` starts any program as a node.

Its texts are Jinja templates. `VARIABLES` lists what they may name; a text may include a file beside the target file:
`{% include "broker.toml.j2" %}`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError, meta
from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from fencepost.faults.parameters import Pattern, PlanModel

VARIABLES: Final[Mapping[str, str]] = {
    "name": "the name of the node: node-4",
    "id": "its id in the protocol; a duplicate has that of its original",
    "roles": "its roles: a list of `broker` and `controller`",
    "level": "the protocol level at which it starts, or nothing",
    "address": "the address that it binds",
    "peer_port": "the port for its peers, 9090, also in the names of peers; with `one_listener` 9092",
    "client_port": "the port of a broker for clients, 9092",
    "advertised_client": "the `host:port` that a broker tells clients",
    "listeners": "all listeners in Kafka's form: INTERNAL://127.20.0.4:9090,CLIENT://127.20.0.4:9092",
    "advertised_listeners": "the advertised listeners in Kafka's form",
    "voters": "the controllers in Kafka's form: 1@node-1:9090,2@node-2:9090",
    "controllers": "all controllers but duplicates, each with `id`, `name` and `address`, as this node reaches them",
    "brokers": "all brokers but duplicates, in the same way, each also with its `own_address` and `advertised_client`",
    "zookeepers": "all ZooKeeper servers, in the same way",
    "zookeeper_connect": "the ZooKeeper servers in Kafka's form: zk-1:2181",
    "services": "the services of the target as this node reaches them: `services.database.host` and `.port`",
    "home": "the folder of the node, which has its files",
    "properties": "the path of its `node.properties`",
    "data": "its first log directory",
    "log_dirs": "a list of all its log directories",
    "hosts": "its name table, in the form of /etc/hosts",
    "cluster_id": "the id of the cluster, as Kafka writes it",
    "timing": "the timeouts of the plan in milliseconds: `timing.lease_ms`",
    "settings": "what `settings`, `timing` and `levels` of the target file give this node: a mapping",
    "folder": "the folder of the target file",
    "version": "the version of the target",
    "security": "that of each listener: `security.client.protocol` and `.mechanism`; also `internal`, `controller`",
    "keystore": "with TLS, the PEM file of the node's private key and certificate",
    "truststore": "with TLS, the PEM file of the authority that signs all certificates",
    "users": "with SASL, the passwords by user; nodes log in to each other as `broker`",
    "python": "the Python that runs the harness",
}

SHARED: Final = frozenset({"folder", "level", "python", "security", "settings", "timing", "users", "version"})
"""The variables that say nothing about the place of a node."""


@cache
def environment(folder: Path) -> Environment:
    """Return the environment of the templates of a target file in this folder."""
    return Environment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )


def _variables(text: str) -> set[str]:
    """Return the variables that a template names. Raise TemplateError."""
    return meta.find_undeclared_variables(environment(Path()).parse(text))


def _checked(text: str) -> str:
    """Refuse a template with a mistake, or with a variable that no node has."""
    try:
        named = _variables(text)
    except TemplateError as error:
        raise PydanticCustomError("template", "{error}", {"error": f"no Jinja template ({error})"}) from None
    for name in sorted(named - VARIABLES.keys()):
        near = difflib.get_close_matches(name, VARIABLES, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(VARIABLES)}"
        raise PydanticCustomError("template", "unknown variable `{name}`; {hint}", {"name": name, "hint": hint})
    return text


def as_text(value: Any) -> Any:
    """Return a number or a truth value as a configuration file has it: `200`, `false`."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Text = Annotated[str, BeforeValidator(as_text)]
"""A value of a configuration; numbers and truth values need no quotes."""
Template = Annotated[Text, AfterValidator(_checked)]
CommandLine = Annotated[tuple[Template, ...], Field(min_length=1)]


def _for_both_roles(command: Any) -> Any:
    """Take one command line as that of both roles."""
    if isinstance(command, str):
        message = "write it as a list, one entry for each word: [bin/acme, --config, '{{ properties }}']"
        raise PydanticCustomError("command", "{message}", {"message": message})
    return {"controller": command, "broker": command} if isinstance(command, list | tuple) else command


class Line(PlanModel):
    """A line of the log of a node since its last start."""

    says: Pattern


def _kind(sign: Any) -> str:
    return "word" if isinstance(sign, str) else "line"


_Line = Annotated[Line, Tag("line")]
BrokerSign = Annotated[
    Annotated[Literal["metadata", "api-versions", "port"], Tag("word")] | _Line, Discriminator(_kind)
]
ControllerSign = Annotated[
    Annotated[Literal["quorum", "api-versions", "port"], Tag("word")] | _Line, Discriminator(_kind)
]


class Ready(PlanModel):
    """The sign that a node serves, by role. The first of each list of signs is the strongest."""

    broker: BrokerSign = "metadata"
    """`metadata`: it lists all brokers that started; `api-versions`: it answers that request; `port`: it listens;
    `{says: PATTERN}`: its log has such a line."""
    controller: ControllerSign = "api-versions"
    """The same; `quorum`: one controller answers DescribeQuorum as leader."""
    metadata_topic: str = "__cluster_metadata"
    """The topic of the metadata log, of which DescribeQuorum is asked."""


class Ids(PlanModel):
    """The keys of a node's id, for faults that change ids and directories."""

    stored: str = "node.id"
    """In `meta.properties` of its log directories."""
    configured: tuple[str, ...] = ("node.id",)
    """In `node.properties`."""


class TemplatesByRole(PlanModel):
    """Lines of `node.properties`, by role."""

    all: dict[str, Template] = Field(default_factory=dict)
    controller: dict[str, Template] = Field(default_factory=dict)
    broker: dict[str, Template] = Field(default_factory=dict)


class CommandsByRole(PlanModel):
    """The command lines of controllers and brokers, which may be different programs."""

    controller: CommandLine | None = None
    """None where a dialect has no nodes that are only controllers."""
    broker: CommandLine
    combined: CommandLine | None = None
    """The program of a node with both roles. Default: that of brokers."""


class ProcessTemplate(PlanModel):
    """How a program is started as a node: its command line, its files, and the sign that it serves."""

    command: Annotated[CommandsByRole, BeforeValidator(_for_both_roles)]
    """The command line, or one each for `controller` and `broker`. The process must not go into the background; its
    output is its log."""
    environment: dict[str, Template] = Field(default_factory=dict)
    properties: TemplatesByRole = TemplatesByRole()
    """Lines of `node.properties`, to which `settings`, `timing` and `levels` are added."""
    files: dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$")], Template] = Field(default_factory=dict)
    """Further configuration files, by their names in the folder of the node."""
    names: Literal["mount", "program"] = "mount"
    """How the program resolves its peers. `mount`: it sees the name table of the node as /etc/hosts; `program`: the
    command line or the configuration name the table (`hosts`), as for a JVM with `-Djdk.net.hosts.file`."""
    prepare: tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...] = ()
    """Commands that are run in the folder of the target file before a cluster starts, such as a build."""
    format: tuple[CommandLine, ...] = ()
    """Commands that are run once for each node with empty log directories."""
    ready: Ready = Ready()
    ids: Ids = Ids()
    image: Text | None = None
    """The image of the container backend. It must have /bin/sh; the program runs as an unprivileged user, sees the
    folder of the node at the same path, and writes only there."""

    @property
    def owned(self) -> frozenset[str]:
        """The keys of `properties` that follow from the place of a node: its id, its addresses, its folders."""
        lines = (line for _, lines in self.properties for line in lines.items())
        return frozenset(key for key, text in lines if _variables(text) - SHARED)

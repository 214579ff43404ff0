"""Kafka's JAAS text for PLAIN and SCRAM: the login of a node, and the users of a listener.

    org.apache.kafka.common.security.plain.PlainLoginModule required
        username="broker" password="secret" user_broker="secret" user_alice="hers";

`username` and `password` are the node's own login; `user_NAME` is the password of NAME. No message of this module
contains a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from fencepost.cluster_impl.wire.login import PlainLogin

SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
"""Its users stand in the text as those of PLAIN do (decision 0069)."""
LOGIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
CONTROL_FLAGS = frozenset({"required", "requisite", "sufficient", "optional"})

_USER = "user_"
_TOKEN = re.compile(
    r"""\s*(?: (?P<mark>[=;])
            | "(?P<double>(?:[^"\\]|\\.)*)"
            | '(?P<single>(?:[^'\\]|\\.)*)'
            | (?P<word>[^\s=;"']+) )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PlainModule:
    """A parsed login module. `login` is None if the text names no user for the node itself."""

    login: PlainLogin | None
    passwords: Mapping[str, str] = field(repr=False)
    """By user name."""

    @classmethod
    def parse(cls, text: str, module: str = LOGIN_MODULE) -> Self:
        """Parse the text of this login module.

        Raises ValueError, whose text continues a message that begins with the configuration key.
        """
        words = list(_words(text))
        if len(words) < 2 or words[0] != module:
            raise ValueError(f"must begin with {module}, the login module of this mechanism")
        if words[1].lower() not in CONTROL_FLAGS:
            raise ValueError(f"must have one of {', '.join(sorted(CONTROL_FLAGS))} behind the login module")
        options = _options(words[2:])
        passwords = {name.removeprefix(_USER): value for name, value in options.items() if name.startswith(_USER)}
        unknown = sorted(options.keys() - {"username", "password"} - {_USER + name for name in passwords})
        if unknown:
            raise ValueError(f"holds the option {unknown[0]}; only username, password and user_NAME are known")
        if ("username" in options) != ("password" in options):
            raise ValueError("must give username and password together")
        login = PlainLogin(options["username"], options["password"]) if "username" in options else None
        return cls(login, passwords)


def _words(text: str) -> Iterator[str]:
    """Yield the words in front of the semicolon that ends the module; `=` is a word, and nothing may follow."""
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        if match["mark"] == ";":
            if text[position:].strip():
                raise ValueError("must end with its semicolon: only one login module is supported")
            return
        quoted = match["double"] if match["double"] is not None else match["single"]
        yield _ESCAPE.sub(r"\1", quoted) if quoted is not None else match["mark"] or match["word"]
    if text[position:].strip():
        raise ValueError("holds a quotation mark that is not closed")
    raise ValueError("must end with a semicolon")


def _options(words: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for place in range(0, len(words), 3):
        name, *rest = words[place : place + 3]
        if len(rest) != 2 or rest[0] != "=":
            raise ValueError(f"must give each option as name=value, which {name} is not")
        if name in options:
            raise ValueError(f"gives the option {name} twice")
        options[name] = rest[1]
    return options

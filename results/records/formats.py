"""Formats of saved files: the present ones, the earlier ones, and how an earlier one is read.

A format rises when a key or a value of it is renamed. Readers pass what they parsed to an `upgrade_*` function before
they validate it, so that the rest of the project knows the present names only. Writers write the present format.

| file | 1 | 2 |
| --- | --- | --- |
| plan | `story` | `scenario` |
| manifest | `story` | `scenario` |
| verdict | `story`; `sentence` of a finding; check `story` | `scenario`; `message`; check `scenario` |
| journal | `story` of the begin of a run; `sentence` in an event's data | `scenario`; `message` |

In a journal of format 1 a fatal error of a client is a note of the infrastructure; at 2 it is a `client-ended`.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

PLAN_FORMAT: Final = "fencepost-plan/2"
MANIFEST_FORMAT: Final = "fencepost-run/2"
VERDICT_FORMAT: Final = "fencepost-verdict/2"
EARLIER: Final[Mapping[str, str]] = {
    "fencepost-plan/1": PLAN_FORMAT,
    "fencepost-run/1": MANIFEST_FORMAT,
    "fencepost-verdict/1": VERDICT_FORMAT,
}
"""The formats that can still be read, and the present format of the same file."""

RENAMED_KEYS: Final[Mapping[str, str]] = {"story": "scenario", "sentence": "message"}
"""Keys of format 1 and their present names, in every file. No present format uses a name on the left."""
RENAMED_CHECKS: Final[Mapping[str, str]] = {"story": "scenario"}
"""Checks of format 1 and their present names."""

_CLIENT_ENDED: Final = re.compile(
    r"the client (?P<client>\S+) of the workload failed: "
    r"KafkaException: KafkaError\{FATAL,code=(?P<error>\w+),val=-?\d+,str=\"(?P<message>.*)\"\}",
    re.DOTALL,
)
"""The note of format 1 on a client that a fatal error ended."""


def is_readable(declared: object, present: str) -> bool:
    """Return whether a file that declares this format can be read where `present` is the format that is written."""
    return declared == present or (isinstance(declared, str) and EARLIER.get(declared) == present)


def upgrade_plan(data: MutableMapping[str, Any]) -> None:
    """Give the top level of a parsed plan of format 1 its present keys, in place. Leave any other plan as it is."""
    if data.get("format") == "fencepost-plan/1":
        data["format"] = PLAN_FORMAT
        _rename(data)


def upgrade_manifest(data: MutableMapping[str, Any]) -> None:
    """Give a parsed manifest its present keys, in place."""
    data["format"] = MANIFEST_FORMAT
    _rename(data)


def upgrade_verdict(data: MutableMapping[str, Any]) -> None:
    """Give a parsed verdict and its findings their present keys and names of checks, in place."""
    data["format"] = VERDICT_FORMAT
    _rename(data)
    for finding in data.get("findings", ()):
        _rename(finding)
        finding["check"] = RENAMED_CHECKS.get(finding.get("check"), finding.get("check"))


def upgrade_event_data(data: MutableMapping[str, Any]) -> None:
    """Give the data of a journal's event its present keys, in place. A journal does not say its format."""
    if not RENAMED_KEYS.keys().isdisjoint(data):
        _rename(data)
    if data.get("what") == "infrastructure" and (ended := _CLIENT_ENDED.fullmatch(str(data.get("message")))):
        data.update(ended.groupdict(), what="client-ended")


def _rename(data: MutableMapping[str, Any]) -> None:
    for earlier, present in RENAMED_KEYS.items():
        if earlier in data and present not in data:
            data[present] = data.pop(earlier)

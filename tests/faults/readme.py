"""The tables of `faults/README.md`: the faults, as their docstrings have them, and what was measured of them.

python -m tests.faults.readme      writes the table of the faults; a test holds it true
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from inspect import getdoc
from pathlib import Path

from fencepost.faults import registry
from fencepost.faults.capabilities import Capability

README = Path(registry.__file__).with_name("README.md")
NEEDS = {
    Capability.LINKS: "Toxiproxy",
    Capability.KILL: "",
    Capability.TERMINATE: "",
    Capability.PAUSE: "",
    Capability.DIRECTORIES: "",
    Capability.IDENTITY: "",
    Capability.DUPLICATE: "a node with `duplicate_of`",
    Capability.LOG_DIRS: "",
    Capability.HELD_BYTES: "Toxiproxy",
    Capability.MESSAGES: "the Toxiproxy that make builds",
    Capability.DISKS: "/dev/fuse, fusermount3; a node with `disk: breakable`",
    Capability.CLOCK: "a C compiler, once; a node with `clock: own`",
    Capability.NETWORK: "Docker",
    Capability.RESOURCES: "Docker",
    Capability.CERTIFICATES: "a `security` with TLS",
    Capability.USERS: "a `security` with logins",
}
_MODELS = re.compile(r"\bModels (.*?)(?:\.(?=\s|$)|: |; )")


def faults_table() -> str:
    rows = []
    for name, fault in registry.FAULTS.items():
        module = sys.modules[fault.__module__]
        family, file = fault.__module__.split(".")[-2:]
        does = (module.__doc__ or "").strip().splitlines()[0].rstrip(".")
        needs = NEEDS[fault.capability] or "-"
        link = f"[`{name}`]({family}/{file}.py)"
        rows.append((link, family, does, models(fault), f"`{fault.capability.value}`", needs))
    return markdown(("fault", "family", "what happens", "what it models", "capability", "needs"), rows)


def models(fault: object) -> str:
    """The first of what the docstring says the fault models; empty if it does not say."""
    found = _MODELS.search(" ".join((getdoc(fault) or "").split()))
    return found[1] if found else ""


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (heads, ["---"] * len(heads), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def written(place: str, path: Path = README) -> str:
    """Return the text of the file between the marks of a place."""
    return _between(place).split(path.read_text(encoding="utf-8"), maxsplit=1)[2]


def write(place: str, text: str, path: Path = README) -> None:
    before, begin, _, end, after = _between(place).split(path.read_text(encoding="utf-8"), maxsplit=1)
    path.write_text(f"{before}{begin}{text}{end}{after}", encoding="utf-8")


def _between(place: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {place}: [^\n]* -->\n)(.*?)(<!-- end of {place} -->)", re.DOTALL)


if __name__ == "__main__":
    write("faults", faults_table())

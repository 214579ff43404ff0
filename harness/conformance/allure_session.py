"""The session in an Allure report: its environment, and the categories of its results."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

ENVIRONMENT = {
    "Target": "fencepost.target",
    "Version of the target": "fencepost.version",
    "Backend": "fencepost.backend",
    "Seed": "fencepost.seed",
}
CATEGORIES = [
    {
        "name": "Violation: a rule was broken",
        "matchedStatuses": ["failed"],
        "messageRegex": r"^fencepost\.Violation: [\s\S]*",
    },
    {
        "name": "Infrastructure: nothing is known of the target",
        "matchedStatuses": ["broken"],
        "messageRegex": r"^fencepost\.Infrastructure: [\s\S]*",
    },
    {
        "name": "Inconclusive: it did not happen as planned",
        "matchedStatuses": ["broken", "skipped"],
        "messageRegex": r"^(fencepost\.Inconclusive|Skipped: inconclusive): [\s\S]*",
    },
]
"""Read by Allure 2 from the results; Allure 3 takes the same list from its configuration."""


def write_session(folder: Path, runs: Iterable[Mapping[str, str]]) -> None:
    """Write `environment.properties` for these runs, and `categories.json` unless the folder has one.

    `runs` has the properties of each test.
    """
    known = list(runs)
    values = {
        name: ", ".join(dict.fromkeys(run[key] for run in known if key in run)) for name, key in ENVIRONMENT.items()
    }
    values |= {"fencepost": importlib.metadata.version("fencepost"), "Python": platform.python_version()}
    values["System"] = platform.platform()
    lines = (f"{name.replace(' ', chr(92) + ' ')} = {value}\n" for name, value in values.items())
    (folder / "environment.properties").write_text("".join(lines), encoding="utf-8")
    categories = folder / "categories.json"
    if not categories.exists():
        categories.write_text(json.dumps(CATEGORIES, indent=2) + "\n", encoding="utf-8")

"""Write the settings of a release as it documents them itself: `python -m tests.definitions apache-kafka:4.4.0`.

Apache Kafka writes its own documentation: the classes that define its settings print it, with type, default, valid
values and the way in which each can be changed. The reference cluster is asked for its tables. Texts of documentation
are left out: no plan needs them.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from fencepost.cluster_impl.config.data_plane import DataPlaneConfig
from fencepost.cluster_impl.designs.shared.topic_settings import (
    _BROKER_NUMBERS,
    CHOICES,
    FIXED,
    NUMBERS,
    SHARES,
    TOPIC_SETTING,
)
from fencepost.harness.targets import jvm
from fencepost.harness.targets.definitions import LARGEST, REFERENCE, path_of
from fencepost.harness.targets.registry import find

OF_TOPICS = ("org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig")
"""The class that documents the settings of topics; it moved in 3.6."""
OF_BROKERS = ("kafka.server.KafkaConfig",)
TIMEOUT_S = 120
UPDATE_MODE = "Update Mode"
AT_RUN_TIME = ("per-broker", "cluster-wide")

Settings = dict[str, dict[str, str | None]]


def of_release(version: str) -> dict[str, Settings]:
    """Return the settings of topics and of brokers that Apache Kafka of a version documents."""
    topics = {name: _facts(row) for name, row in documented(_printed(version, OF_TOPICS))}
    brokers = documented(_printed(version, OF_BROKERS))
    return {
        "topic": topics,
        "broker": {name: _facts(row) for name, row in brokers if row.get(UPDATE_MODE) in AT_RUN_TIME},
    }


def documented(page: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield each setting of a page of documentation, with the rows of its table."""
    for item in page.split("<h4>")[1:]:
        name, _, rest = item.partition("</h4>")
        rows = re.findall(r"<th>(.*?):?</th>\s*<td>(.*?)</td>", rest, re.DOTALL)
        yield _text(name), {_text(title): _text(value) for title, value in rows}


def of_reference() -> dict[str, Settings]:
    """Return the settings of the reference cluster. Those of a topic have the defaults of the broker's below them."""
    defaults = {key.name: key.default for key in DataPlaneConfig.all_keys()}
    of_broker = {name: key for key, name in TOPIC_SETTING.items()}
    topics: Settings = {
        name: _number(bounds, defaults.get(of_broker.get(name, ""))) for name, bounds in NUMBERS.items()
    }
    choices = {**CHOICES, **{name: (value,) for name, value in FIXED.items()}}
    for name, values in choices.items():
        valid = f"[{', '.join(value for value in values if ',' not in value)}]"
        topics[name] = {"type": "string", "default": values[0], "valid": valid}
    topics |= {name: {"type": "double", "default": None, "valid": "[0,...,1]"} for name in SHARES}
    brokers = {name: _number(bounds, defaults[name]) for name, bounds in _BROKER_NUMBERS.items()}
    return {"topic": topics, "broker": brokers}


def text_of(settings: Mapping[str, Settings]) -> str:
    """Return the text of a file, with a setting a line."""
    parts = []
    for resource, of_resource in settings.items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(facts)}" for name, facts in sorted(of_resource.items()))
        parts.append(f" {json.dumps(resource)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _number(bounds: tuple[int, int], default: str | None) -> dict[str, str | None]:
    lowest, highest = bounds
    type = next(type for type in ("int", "long") if highest <= LARGEST[type])
    return {"type": type, "default": default, "valid": f"[{lowest},...]"}


def _facts(row: Mapping[str, str]) -> dict[str, str | None]:
    default = re.sub(r" \(.*\)$", "", row["Default"])  # `604800000 (7 days)`
    valid = row.get("Valid Values", "")
    return {
        "type": row["Type"],
        "default": None if default == "null" else default.strip('"'),
        "valid": valid if len(valid) <= 100 else "",
    }


def _text(cell: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", cell)).strip()


def _printed(version: str, classes: tuple[str, ...]) -> str:
    failed = []
    for name in classes:
        command = jvm.kafka(version, name)
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if done.returncode == 0 and "<h4>" in done.stdout:
            return done.stdout
        failed.append(done.stderr.strip()[-500:] or f"{name} printed no documentation")
    raise SystemExit("\n".join(failed))


def main(targets: list[str]) -> None:
    for target in targets:
        loaded, version = find(target)
        path = path_of(loaded.file.name, version)
        if path is None:
            raise SystemExit(f"{target} documents no settings of its own: name a release of Apache Kafka, or `quorum`")
        path.write_text(text_of(of_reference() if path.stem == REFERENCE else of_release(version)), encoding="utf-8")
        print(path.relative_to(Path(__file__).parents[1]))


if __name__ == "__main__":
    main(sys.argv[1:])

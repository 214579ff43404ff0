"""No target file and no plan overrides the keys by which the harness places nodes and finds their files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from fencepost.harness.cli.interactive import interactive_plan
from fencepost.harness.cluster.cluster import lay_out
from fencepost.harness.network.addresses import LAST_K, Addresses
from fencepost.harness.plan.checks import problems
from fencepost.harness.plan.model import NodeSettings
from fencepost.harness.plan.owned import OF_HARNESS
from fencepost.harness.targets.registry import VARIABLE, load
from fencepost.harness.targets.target import Installation
from fencepost.harness.yaml_file import YamlFileError
from tests.harness.targets.test_command import BY_COMMAND

FORK = """\
name: fork
extends: {base}
title: a fork
"""
KEYS = {
    "quorum": ("broker.id", "controller.connect", "hosts.file", "log.dirs"),
    "apache-kafka": ("node.id", "process.roles", "controller.quorum.bootstrap.servers", "log.dir"),
    "apache-kafka-zk": ("broker.id", "zookeeper.connect", "advertised.listeners"),
    "zk-controller": ("zookeeper.connect", "listeners"),
    "leader-driven": ("replication.design", "metrics.file"),
}


@pytest.fixture(autouse=True)
def no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")


@pytest.mark.parametrize("name", sorted(KEYS))
def test_the_keys_that_a_driver_sets_are_its_own(name: str, tmp_path: Path) -> None:
    plan, target = interactive_plan(name), load(name)
    layout = lay_out(plan, Addresses(LAST_K + 1))
    installation = Installation(layout, plan.timing, "cluster", tmp_path)
    for node in layout.nodes:
        if not node.is_zookeeper:
            own = target.properties(node, installation).keys() - target.file.properties(node, plan.timing).keys()
            assert own <= OF_HARNESS
            assert own <= type(target).owned  # type: ignore[attr-defined]


@pytest.mark.parametrize(("base", "key"), [(base, key) for base, keys in KEYS.items() for key in keys])
def test_settings_of_a_target_file_that_the_harness_owns_are_refused_with_their_line(
    base: str, key: str, tmp_path: Path
) -> None:
    path = tmp_path / "fork.yaml"
    path.write_text(FORK.format(base=base) + f"settings:\n  broker:\n    fetch.max.bytes: 1\n    {key}: other\n")
    with pytest.raises(YamlFileError) as refused:
        load(str(path))
    assert str(refused.value).startswith(f"`{key}` at {path}:7: the harness sets it, to place nodes")


def test_timeouts_levels_and_upgrades_that_name_such_keys_are_refused_all_at_once(tmp_path: Path) -> None:
    timing = "\n".join(f"  {name}: {list(keys)}" for name, keys in load("apache-kafka").file.timing.items())
    path = tmp_path / "fork.yaml"
    text = FORK.format(base="apache-kafka") + "timing:\n" + timing.replace("lease_ms: [", "lease_ms: ['node.id', ")
    path.write_text(
        text + "\nlevels:\n  base:\n    listeners: X://:1\nupgrade:\n  says: '(x)'\n  protocol: [log.dirs]\n"
    )
    with pytest.raises(YamlFileError) as refused:
        load(str(path))
    assert [each.partition(":")[0] for each in refused.value.messages] == [
        f"`node.id` at {path}",
        f"`listeners` at {path}",
        f"`log.dirs` at {path}",
    ]


def test_a_mistake_of_the_file_that_is_extended_is_reported_there(tmp_path: Path) -> None:
    base = tmp_path / "base.yaml"
    base.write_text(FORK.format(base="quorum").replace("fork", "base") + "settings: {all: {listeners: X://:1}}\n")
    with pytest.raises(YamlFileError, match=f"`listeners` at {base}:4"):
        load(str(base))
    path = tmp_path / "fork.yaml"
    path.write_text(FORK.format(base="base"))
    with pytest.raises(YamlFileError, match=f"`listeners` at {base}:4"):
        load(str(path))


@pytest.mark.parametrize(("key", "refused"), [("broker.id", True), ("log.dirs", True), ("my.cache.size", False)])
def test_of_a_program_by_templates_the_lines_that_name_its_place_are_owned(
    key: str, refused: bool, tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    text = BY_COMMAND.read_text().replace("      broker.id:", "      my.cache.size: 1\n      broker.id:")
    path.write_text(text.replace("settings:\n  broker:\n", f"settings:\n  broker:\n    {key}: 7\n"))
    if not refused:
        assert load(str(path)).file.settings.broker[key] == "7"
        return
    with pytest.raises(YamlFileError, match=f"`{key}` at "):
        load(str(path))


@pytest.mark.parametrize("key", ["controller.quorum.bootstrap.servers", "cluster.id", "controller.connect"])
def test_settings_of_a_plan_that_the_harness_owns_are_refused(key: str) -> None:
    plan = interactive_plan("quorum").model_copy(update={"settings": NodeSettings(broker={key: "x"})})
    assert any(f"`{key}` is set by the harness" in str(each) for each in problems(plan))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("'log.dirs ': /elsewhere", "a configuration key has no blank"),
        ("'listeners:X': //:1", "a configuration key has no blank"),
        (r"'log\u002edirs': /elsewhere", "a configuration key has no blank"),
        (r'message.max.bytes: "1000\nlog.dirs=/elsewhere"', "one line"),
        (r"message.max.bytes: '1000\'", "one line"),
    ],
    ids=["blank", "colon", "escape", "two lines", "a line that goes on"],
)
def test_no_setting_reads_as_another_one_in_the_file_of_a_node(line: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "fork.yaml"
    path.write_text(FORK.format(base="quorum") + f"settings:\n  broker:\n    fetch.max.bytes: 1\n    {line}\n")
    with pytest.raises(YamlFileError, match=f":7: .*{why}") as refused:
        load(str(path))
    assert len(refused.value.messages) == 1
    key, value = next(iter(YAML().load(line).items()))
    with pytest.raises(ValidationError, match=why):
        NodeSettings.model_validate({"broker": {key: value}})

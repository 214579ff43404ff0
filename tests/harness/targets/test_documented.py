"""docs/your-own-broker.md: its target files load, and it names every key and variable that there is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from fencepost.harness.catalogue.installed import GROUP as CATALOGUES
from fencepost.harness.checkers.added import GROUP as CHECKERS
from fencepost.harness.targets.process_template import VARIABLES, ProcessTemplate
from fencepost.harness.targets.registry import DRIVERS, TARGETS, VARIABLE, load, load_file
from fencepost.suites.scenarios import GROUP as SCENARIOS

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "your-own-broker.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
FILES = [block for block in BLOCKS if "\nname:" in block]
ADDITIONS = [block for block in BLOCKS if block not in FILES and not block.startswith("scenarios:")]


@pytest.mark.parametrize("text", FILES, ids=lambda text: text.partition("\n")[0])
def test_each_target_file_loads(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    (tmp_path / "acme.yaml").write_text(text)
    assert load(f"{tmp_path}/acme.yaml").file.name.startswith("acme")


@pytest.mark.parametrize("text", ADDITIONS, ids=lambda text: text.partition("\n")[0])
def test_each_addition_fits_the_target_file_of_any_program(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    yaml = YAML()
    of_clients = next(each for each in FILES if "dialect: clients" in each)
    base = of_clients if text.startswith("services:") else FILES[-1]
    whole = {**yaml.load(base), **yaml.load(text)}
    with (tmp_path / "acme.yaml").open("w") as file:
        yaml.dump(whole, file)
    version = "1.5" if "releases" in whole else "1"
    assert load_file(f"{tmp_path}/acme.yaml:{version}").differences == (
        () if version == "1" else load_file(f"{tmp_path}/acme.yaml:1.8").differences
    )


@pytest.mark.parametrize("key", ProcessTemplate.model_fields)
def test_each_key_of_a_process_is_explained(key: str) -> None:
    assert f"| `{key}` |" in DOCUMENT


def test_the_variables_are_those_of_templates() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", DOCUMENT.split("with these variables:")[1], re.MULTILINE))
    assert {name: rows.get(name) for name in VARIABLES} == dict(VARIABLES)


def test_the_entry_points_are_those_that_are_read() -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    named = set(tomllib.loads(block)["project"]["entry-points"])
    assert named == {TARGETS, DRIVERS, SCENARIOS, CHECKERS, CATALOGUES}

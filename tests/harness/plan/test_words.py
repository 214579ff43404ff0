"""The words of a package are found in its modules, and none is left out silently."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from fencepost.harness.plan.conditions.condition import AwaitStep
from fencepost.harness.plan.words import words_of

HEAD = """from typing import Literal
from fencepost.harness.plan.conditions.condition import AwaitStep
"""
SUNNY = '''
class Sunny(AwaitStep):
    """The sun shines."""
    phrase = "the sun shines"
    condition: Literal["sunny"] = "sunny"
'''
PACKAGES = (f"fresh_words_{number}" for number in itertools.count())


def found_in(folder: Path, monkeypatch: pytest.MonkeyPatch, *modules: str) -> list[str]:
    name = next(PACKAGES)
    package = folder / name
    package.mkdir()
    (package / "__init__.py").touch()
    for number, text in enumerate(modules):
        (package / f"word_{number}.py").write_text(HEAD + text)
    monkeypatch.syspath_prepend(folder)
    return list(words_of(name, [str(package)], AwaitStep))  # type: ignore[type-abstract]


def test_each_module_brings_its_words_and_bases_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = "class Weather(AwaitStep):\n    pass\n"
    rainy = SUNNY.replace("Sunny", "Rainy").replace("sunny", "rainy")
    assert found_in(tmp_path, monkeypatch, base, SUNNY, rainy) == ["sunny", "rainy"]


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ((SUNNY, SUNNY.replace("Sunny", "Bright")), "the condition Bright has the name `sunny`, as Sunny has"),
        ((SUNNY.replace(' = "sunny"', ""),), "the condition Sunny has no name: write `condition: Literal"),
        ((SUNNY.replace('    """The sun shines."""\n', ""),), "the condition Sunny has no docstring"),
    ],
)
def test_a_word_that_would_be_left_out_does_not_load(
    modules: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TypeError, match=message):
        found_in(tmp_path, monkeypatch, *modules)

"""The guard of messages finds each text that would show the representation of an object."""

from __future__ import annotations

from pathlib import Path

from mypy import api

TOP = Path(__file__).parents[1]
SAMPLE = """
from dataclasses import dataclass
from enum import Enum, StrEnum

class State(Enum):
    UP = "up"

class Word(StrEnum):
    UP = "up"

@dataclass
class Entry:
    state: State

@dataclass
class Shown(Entry):
    def __str__(self) -> str:
        return self.state.value

def texts(state: State, word: Word, entry: Entry | None, shown: Shown, all: list[Entry], words: list[Word]) -> None:
    print(f"{state}")  # wrong
    print(f"is {entry}")  # wrong
    print("{}".format(state))  # wrong
    print(str(entry))  # wrong
    print(", ".join(map(str, all)))  # wrong
    print(f"{all}")  # wrong
    print(f"{words}")  # wrong
    print(f"{state.value} {word} {shown} {str(word)} {[1]} {' '.join(map(str, words))}")
"""


def test_each_text_that_would_show_a_representation_is_found(tmp_path: Path) -> None:
    sample, settings = tmp_path / "fencepost_sample.py", tmp_path / "mypy.ini"
    sample.write_text(SAMPLE, encoding="utf-8")
    settings.write_text(f"[mypy]\nplugins = {TOP / 'tests' / 'plain_messages.py'}\n", encoding="utf-8")
    out, _, _ = api.run(["--config-file", str(settings), "--cache-dir", str(tmp_path / "cache"), str(sample)])
    found = [int(line.split(":")[1]) for line in out.splitlines() if "representation" in line]
    wrong = [number for number, line in enumerate(SAMPLE.splitlines(), start=1) if line.endswith("# wrong")]
    assert found == wrong


def test_the_guard_is_part_of_the_check_of_types() -> None:
    assert 'plugins = ["tests/plain_messages.py"]' in (TOP / "pyproject.toml").read_text(encoding="utf-8")

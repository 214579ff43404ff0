"""The check of the language finds what it is there for, and nothing else."""

from __future__ import annotations

import pytest

from tests.language import check_python, check_text


@pytest.mark.parametrize(
    "source",
    [
        "is_told = True",
        "class StoryBoard: ...",
        "raise ValueError('nobody listens')",
        "# whoever listens",
        '"""Whether it listens."""',
        'def f() -> None:\n    """Of each partition."""',
        'class A:\n    limit = 1\n    """What it takes at most."""',
    ],
)
def test_a_retired_word_or_a_fragment_is_found_once_wherever_it_stands(source: str) -> None:
    assert len(list(check_python("m.py", source))) == 1


@pytest.mark.parametrize(
    "source", ["history = ZooKeeper()", '"""Return what listens; of two, the later."""', "withdrawn = 1"]
)
def test_a_word_that_only_holds_the_letters_of_a_retired_one_is_left_alone(source: str) -> None:
    assert list(check_python("m.py", source)) == []


def test_a_mark_names_the_line_and_the_word_to_use_instead() -> None:
    (mark,) = check_text("README.md", "a scenario\na story\n")
    assert str(mark) == "README.md:2: `story` is retired: scenario"

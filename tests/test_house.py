"""The figures of the source are counted as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import figures, importers, places, read

TREE = {
    "harness/__init__.py": "",
    "harness/plan/leader_is.py": 'class LeaderIs(AwaitStep):\n    condition: Literal["leader"] = "leader"\n',
    "harness/plan/awaits.py": 'class AwaitStep(PlanModel):\n    do: Literal["await"] = "await"\n',
    "harness/engine/holds.py": (
        "from fencepost.harness.plan.leader_is import LeaderIs\n\n\n"
        "class Engine:\n    def holds(self, step: object) -> bool:\n        return isinstance(step, LeaderIs)\n\n"
        "    async def wait(self) -> None: ...\n"
    ),
    "harness/checkers/lost.py": 'CHECK = Check("lost", "Records are lost")\n',
    "harness/judge.py": "from fencepost.harness.checkers import lost\n",
    "harness/cli/suite.py": "def suite(shard: str | None) -> None: ...\n",
    "suites/vocabulary.py": "from fencepost.suites.words import *\n",
    "suites/words.py": "from fencepost.harness.plan.leader_is import LeaderIs\n",
    "suites/kip_631/restart.py": "from fencepost.harness.plan.leader_is import LeaderIs\n",
    "cluster_impl/log.py": "def append():\n" + "    pass\n" * 60,
    "docs/example.py": "import fencepost\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in TREE.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_the_figures_count_the_source_and_nothing_beside_it(root: Path) -> None:
    table = figures(root)
    assert table["lines"] == "79 in 11 files"
    assert table["lines of harness"] == "15 in 7 files"
    assert table["functions over 60 lines"] == "1"
    assert table["class with most methods"] == "harness/engine/holds.py:4 Engine, 2"
    assert table["modules with one importer"] == "2"
    assert table["below 60 lines, no word"] == "2"


def test_a_word_is_no_short_module_that_belongs_to_its_importer(root: Path) -> None:
    (root / "suites/kip_631/restart.py").unlink()
    (root / "harness/engine/holds.py").unlink()
    table = figures(root)
    assert table["modules with one importer"] == "3"
    assert table["below 60 lines, no word"] == "2"


def test_a_module_is_imported_by_its_own_name_or_from_its_package(root: Path) -> None:
    users = importers(read(root))
    assert users["harness/checkers/lost.py"] == {"harness/judge.py"}
    assert users["harness/plan/leader_is.py"] == {
        "harness/engine/holds.py",
        "suites/kip_631/restart.py",
        "suites/words.py",
    }


def test_a_place_to_change_is_a_file_that_names_the_word_and_no_scenario(root: Path) -> None:
    counted = places(read(root))
    assert counted["condition"] == [2]
    assert counted["checker"] == [2]
    assert counted["option"][0] == 1
    assert "step" not in counted

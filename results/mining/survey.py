"""Which folders are there, and what each of them has: before Spark, which can only read files that exist."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from results.records.folder import RunFolder
from results.records.journal import being_written

PAGE = "trends.html"
NO_RUN = (PAGE, "campaign.json")
"""Folders with such a file hold what was mined, or the runs of a campaign: they are no run themselves."""


class State(Enum):
    JUDGED = "judged"
    RUNNING = "running"
    KILLED = "killed half way"
    EMPTY = "empty"
    CLOSED = "not open to this user"


@dataclass(frozen=True, slots=True)
class Survey:
    """The folders under `root` by state, in the order of their names."""

    root: Path
    folders: dict[State, tuple[RunFolder, ...]]

    def names(self, state: State) -> list[str]:
        return [folder.name for folder in self.folders[state]]

    def files(self, name: str) -> list[str]:
        """The paths of one kind of file in all folders that have it."""
        readable = (
            folder for state, folders in self.folders.items() if state is not State.CLOSED for folder in folders
        )
        paths = (getattr(folder, name) for folder in readable)
        return [str(path.resolve()) for path in paths if path.is_file()]


def survey(root: Path) -> Survey:
    """Links to folders are left out: what they lead to would count twice."""
    folders: dict[State, list[RunFolder]] = {state: [] for state in State}
    for path in sorted(root.iterdir()):
        if path.is_symlink() or not path.is_dir() or path.name.startswith("."):
            continue
        try:
            if any((path / each).exists() for each in NO_RUN):
                continue
            state = _state(RunFolder(path))
        except PermissionError:
            state = State.CLOSED
        folders[state].append(RunFolder(path))
    return Survey(root, {state: tuple(found) for state, found in folders.items()})


def _state(folder: RunFolder) -> State:
    if folder.verdict.is_file():
        return State.JUDGED
    if not folder.journal.is_file():
        return State.EMPTY
    return State.RUNNING if being_written(folder.journal) else State.KILLED

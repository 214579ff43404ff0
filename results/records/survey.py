"""Survey a folder of runs: its run folders by their state, and the folders of campaigns and suites in it."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from fencepost.results.records.folder import RunFolder
from fencepost.results.records.journal import being_written

TRENDS_FILE, CAMPAIGN_FILE, SUITE_FILE = "trends.json", "campaign.json", "results.json"
EARLIER_TRENDS_FILE = "trends.html"
"""Files of folders that are not runs: they hold results of mining, the runs of a campaign, the results of a suite."""


ROUNDS_FOLDER, CAUSES_FOLDER = "rounds", "causes"
"""Folders of a campaign on a fleet that are no runs: its rounds, and the causes of what it found."""


class FolderState(Enum):
    """The state of a run folder."""

    JUDGED = "judged"
    RUNNING = "running"
    KILLED = "killed half way"
    EMPTY = "without a journal"
    CLOSED = "not open to this user"


@dataclass(frozen=True, slots=True)
class Survey:
    """The run folders under `root` by state, in the order of their names.

    `campaigns` and `suites` are folders: a campaign's holds its own run folders, a suite's only its results.
    """

    root: Path
    folders: dict[FolderState, tuple[RunFolder, ...]]
    campaigns: tuple[Path, ...] = ()
    suites: tuple[Path, ...] = ()

    def names(self, state: FolderState) -> list[str]:
        """Return the paths below `root` of the folders in this state."""
        return [folder.path.relative_to(self.root).as_posix() for folder in self.folders[state]]

    def with_campaigns(self) -> "Survey":
        """Return this survey with the run folders of all campaigns added."""
        inner = [survey(campaign) for campaign in self.campaigns]
        folders = {
            state: (*own, *(folder for each in inner for folder in each.folders[state]))
            for state, own in self.folders.items()
        }
        return Survey(self.root, folders, self.campaigns, self.suites)

    def files(self, name: str) -> list[str]:
        """Return the paths of one kind of file (`manifest`, `verdict`, `journal`) in all folders that have it."""
        readable = (
            folder for state, folders in self.folders.items() if state is not FolderState.CLOSED for folder in folders
        )
        paths = (getattr(folder, name) for folder in readable)
        return [str(path.resolve()) for path in paths if path.is_file()]


def survey(root: Path) -> Survey:
    """Survey the folders under `root`. Symbolic links are left out, or their targets would count twice."""
    folders: dict[FolderState, list[RunFolder]] = {state: [] for state in FolderState}
    campaigns, suites = [], []
    no_runs = (ROUNDS_FOLDER, CAUSES_FOLDER) if (root / CAMPAIGN_FILE).exists() else ()
    for path in sorted(root.iterdir()):
        if path.is_symlink() or not path.is_dir() or path.name.startswith(".") or path.name in no_runs:
            continue
        try:
            if (path / CAMPAIGN_FILE).exists():
                campaigns.append(path)
            elif (path / SUITE_FILE).exists():
                suites.append(path)
            elif not any((path / name).exists() for name in (TRENDS_FILE, EARLIER_TRENDS_FILE)):
                folders[_state(RunFolder(path))].append(RunFolder(path))
        except PermissionError:
            folders[FolderState.CLOSED].append(RunFolder(path))
    return Survey(
        root, {state: tuple(of_state) for state, of_state in folders.items()}, tuple(campaigns), tuple(suites)
    )


def _state(folder: RunFolder) -> FolderState:
    if folder.verdict.is_file():
        return FolderState.JUDGED
    if not folder.journal.is_file():
        return FolderState.EMPTY
    return FolderState.RUNNING if being_written(folder.journal) else FolderState.KILLED

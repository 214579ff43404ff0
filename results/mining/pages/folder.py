"""The folder of the pages: new, empty, or one of earlier pages."""

from pathlib import Path

from fencepost.results.records.survey import TRENDS_FILE


class NotOurs(Exception):
    """The output folder has other files, which the pages would be mixed with."""


def check_folder(folder: Path) -> None:
    """Raise NotOurs unless the folder is new, empty, or one of earlier pages."""
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / TRENDS_FILE).exists())):
        raise NotOurs(f"{folder} has other files: give a new folder with --out, or one of earlier trends")

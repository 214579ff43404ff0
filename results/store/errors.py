"""The errors of a store, and errors of the library and the system in words."""

from __future__ import annotations

from collections.abc import Sequence


class StoreError(Exception):
    """A store cannot be read or written. The message says what is wrong, where, and what to do."""


class NotAStore(StoreError):
    """There is no store at the address, or something else is there."""


class NewerStore(StoreError):
    """A table has columns that this version does not know."""


class UnknownFeature(StoreError):
    """A table needs a feature of the Delta protocol that its readers do not honour."""


class DamagedStore(StoreError):
    """Data files of a table are empty, cut, damaged or gone. `files` says of each which it is, and what is wrong."""

    def __init__(self, table: str, files: Sequence[str]) -> None:
        self.files = tuple(files)
        more = f"\n{len(files) - 1} more files are damaged: `fencepost results check` names them" if files[1:] else ""
        super().__init__(f"the table {table} is damaged: {files[0]}{more}")


def in_words(address: str, error: BaseException) -> str:
    """Return what is wrong at the address of a store, and what to do, for an error of the library or the system."""
    text = str(error) or type(error).__name__
    first_line = text.strip().splitlines()[0]
    if "No space left on device" in text or "os error 28" in text or "Disk quota exceeded" in text:
        return (
            f"no space is left in {address}: make room and publish again; what was committed is whole, and "
            f"`fencepost results check` shows it"
        )
    if "Permission denied" in text or "os error 13" in text or "Read-only file system" in text:
        return f"{address} is not writable for this user: {first_line}"
    return f"{address} cannot be used: {first_line}"

"""The content of catalogue files as JSON, kept in the cache: each process that judges a run reads it.

YAML of 3,000 lines takes half a second of processor time, its JSON a few milliseconds. A copy is found by the hash of
the text, so it never differs from the file. Without a copy, or with a damaged one, the file itself is read.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from fencepost.harness.cache_folder import cache_folder

_Content = TypeVar("_Content", bound=BaseModel)


def read_kept(text: str, content: type[_Content]) -> _Content | None:
    """Return what was kept for this text; None if nothing was, or if it does not fit the model any more."""
    try:
        return content.model_validate_json(_copy(text).read_bytes())
    except (OSError, ValidationError):
        return None


def keep(text: str, content: BaseModel) -> None:
    """Keep the content of this text. A cache that cannot be written is no error: the next process reads the file."""
    copy = _copy(text)
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        # A file of its own: several processes of a suite may begin at once.
        descriptor, draft = tempfile.mkstemp(dir=copy.parent, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(content.model_dump_json())
            Path(draft).replace(copy)
        finally:
            Path(draft).unlink(missing_ok=True)
    except OSError:
        return


def _copy(text: str) -> Path:
    return cache_folder() / "catalogues" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"

"""Short paths for Unix sockets, whose names are limited to 107 bytes, in folders of any depth."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """Yield a short path to `folder`, valid in the block and in this process. Raises OSError."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)

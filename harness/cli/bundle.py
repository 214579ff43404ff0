"""`fencepost bundle`: a run packed for another person."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.reproduction.bundle.pack import bundle as pack
from fencepost.harness.targets.registry import open_run


def bundle(run: Path, out: Path | None) -> None:
    """Write the archive and print its path and size."""
    written = pack(open_run(run), out or Path(f"{run.resolve().name}-bundle.tar.gz"))
    print(f"{written}  {written.stat().st_size / 1e6:.1f} MB")

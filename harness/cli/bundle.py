"""`fencepost bundle`: a run packed for another person."""

from __future__ import annotations

from pathlib import Path

from fencepost.harness.cli.commands.runs import BundleOptions
from fencepost.harness.reproduction.bundle.pack import bundle as pack
from fencepost.harness.targets.registry import open_run


def bundle(options: BundleOptions) -> None:
    """Write the archive and print its path and size."""
    written = pack(open_run(options.run), options.out or Path(f"{options.run.resolve().name}-bundle.tar.gz"))
    print(f"{written}  {written.stat().st_size / 1e6:.1f} MB")

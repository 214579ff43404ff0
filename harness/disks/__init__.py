"""Log directories behind a file system of ours, whose single operations can be made to fail."""

from __future__ import annotations

from harness.disks.mounts import lacking

__all__ = ["lacking"]

"""Log directories mounted on a FUSE file system whose single operations can be made to fail."""

from __future__ import annotations

from fencepost.harness.disks.mounts import unavailable_reason

__all__ = ["unavailable_reason"]

"""A FUSE file system of one file, as a program: it is unmounted when standard input ends, as with its parent.

python one_file.py FOLDER FUSERMOUNT
"""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from typing import Any

from mfusepy import FUSE, FuseOSError, Operations

CONTENT = b"fence"


class OneFile(Operations):  # type: ignore[misc]
    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path == "/file":
            return {"st_mode": stat.S_IFREG | 0o444, "st_nlink": 1, "st_size": len(CONTENT)}
        raise FuseOSError(errno.ENOENT)

    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", "file"]

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return CONTENT[offset : offset + size]


def end_with_the_parent(folder: str, unmount: str) -> None:
    sys.stdin.read()
    subprocess.run([unmount, "-u", "-z", "-q", folder], stderr=subprocess.DEVNULL)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder, unmount = sys.argv[1:]
    threading.Thread(target=end_with_the_parent, args=(folder, unmount), daemon=True).start()
    FUSE(OneFile(), folder, foreground=True)

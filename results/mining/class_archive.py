"""An archive of Spark's classes, which the JVM of a small store maps into memory: it starts, and plans, sooner.

`python -m fencepost.results.mining.class_archive` mines a small store and keeps the classes that this loaded, parsed
and verified. Later starts find the archive by themselves; a JVM that it does not fit, such as one of another version,
starts as it does without one.
"""

import os
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final

from pyspark import SparkContext

from fencepost.results.mining.launch import CLASS_ARCHIVE, QUIET, SparkError, launch, submit_arguments
from fencepost.results.mining.synthesize import make_truth, synthesize
from fencepost.results.mining.trends import main as mine
from fencepost.results.store.store import Store

TESTS: Final = 20
WRITTEN_WITHIN_S: Final = 300.0
"""The time that the JVM may take to write the archive at its end."""


def make(archive: Path) -> None:
    """Write the archive, also if there is one. Raise OSError, and SparkError if Spark fails."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="fencepost-classes-", dir=archive.parent) as scratch:
        store, draft = Path(scratch) / "store", Path(scratch) / "draft"
        synthesize(Store.create(str(store)), make_truth(TESTS, 3, 3, 1), 1)

        def job(argv: object) -> int:
            with redirect_stdout(StringIO()):
                code = mine([str(store), "--out", str(Path(scratch) / "pages")])
            jvm = SparkContext._gateway.proc  # type: ignore[union-attr]  # the job has started it
            jvm.stdin.close()
            jvm.wait(WRITTEN_WITHIN_S)
            return code

        options = f"-XX:ArchiveClassesAtExit={draft} {QUIET}"
        os.environ["PYSPARK_SUBMIT_ARGS"] = submit_arguments("local[2]", options=options)
        launch(job, [])
        if not draft.is_file():
            raise SparkError("this JVM has written no archive of its classes")
        draft.replace(archive)


def main() -> int:
    if " " in str(CLASS_ARCHIVE):
        print(f"fencepost: {CLASS_ARCHIVE} has a space, which Spark's options cannot have", file=sys.stderr)
        return 2
    try:
        make(CLASS_ARCHIVE)
    except (OSError, SparkError) as error:
        print(f"fencepost: no archive of Spark's classes: {error}", file=sys.stderr)
        return 2
    print(f"{CLASS_ARCHIVE}: {CLASS_ARCHIVE.stat().st_size / 2**20:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

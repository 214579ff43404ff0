"""The releases that a Maven registry has, as Maven reads them: with its mirrors, its proxies and its settings.

Maven is asked for a version that there cannot be. It then reads the list of all that there are, `maven-metadata.xml`,
into its local repository, and fetches nothing else.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from packaging.version import InvalidVersion, Version

from fencepost.harness.errors import InfrastructureError
from fencepost.harness.targets.jars import ANSI, DOWNLOAD_TIMEOUT, pom

NO_VERSION = "[999999,)"
_REPOSITORY = re.compile(r"Using local repository at (.+)")
_READ = re.compile(r"Downloaded from \S+: \S+/maven-metadata\.xml")


def published(group: str, name: str) -> list[str]:
    """Return the releases of an artifact in the order of their numbers, without release candidates.

    InfrastructureError if there is no Maven, or if it reaches no registry: what it knows from earlier may be old.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise InfrastructureError("no registry can be asked: mvn is not on the PATH (apt-get install maven)")
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "pom.xml").write_text(pom([(group, name, NO_VERSION)]))
        try:
            done = subprocess.run(
                [maven, "-B", "-X", "-U", "dependency:copy-dependencies"],
                cwd=scratch,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=DOWNLOAD_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise InfrastructureError(f"the registry did not answer Maven within {DOWNLOAD_TIMEOUT} s") from None
    said = ANSI.sub("", done.stdout + done.stderr)
    repository = _REPOSITORY.search(said)
    if repository is None or not _READ.search(said):
        raise InfrastructureError(
            f"no registry can be asked for the releases of {group}:{name}: {_reason(said)}. Let Maven reach one "
            "(~/.m2/settings.xml names mirrors and proxies)"
        )
    folder = Path(repository[1].strip(), *group.split("."), name)
    return sorted(_listed(folder), key=Version)


def _listed(folder: Path) -> set[str]:
    """Return the versions in the lists of all registries that Maven has asked."""
    found = set()
    for file in folder.glob("maven-metadata-*.xml"):
        texts = (each.text or "" for each in ElementTree.parse(file).iterfind("./versioning/versions/version"))
        found |= {text.strip() for text in texts if _is_release(text.strip())}
    return found


def _is_release(text: str) -> bool:
    try:
        return not Version(text).is_prerelease
    except InvalidVersion:
        return False


def _reason(said: str) -> str:
    """Return the first line of Maven's that says what failed."""
    lines = [line for line in said.splitlines() if line.startswith(("[WARNING]", "[ERROR]"))]
    said_why = [line for line in lines if "Could not transfer" in line or "offline" in line] or lines
    return said_why[0].partition("] ")[2].strip().rstrip(".") if said_why else "Maven said nothing"

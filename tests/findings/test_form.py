"""Each script of findings/ has the form that CONTRIBUTING.md describes. None is run: they install packages."""

import re
import stat
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "findings"
SCRIPTS = sorted(FOLDER.glob("*.sh"))
URL = re.compile(r"\b[a-z]+://(?!127\.0\.0\.1\b|localhost\b)\S+")
MACHINE = re.compile(r"(?<![\w$}])(?:/home|/root|/Users|/work|/tmp|/opt|/var|[A-Z]:\\)\b\S*")
OTHER_REGISTRY = re.compile(r"GOPROXY|--(?:extra-)?index-url|--registry|remoteRepositories")


def head(script: str) -> str:
    """Return the comment at the beginning, as one line."""
    lines = re.match(r"#!/bin/sh\n((?:#.*\n)+)", script)
    return "" if lines is None else " ".join(line.removeprefix("#").strip() for line in lines[1].splitlines())


def problems(script: str) -> list[str]:
    """Return what the form lacks."""
    comment, body = head(script), re.sub(r"^#.*\n", "", script, flags=re.M)
    seen = re.search(r"Guess: \S.* Seen with .+? (\d[\w.-]*):", comment)
    right = {
        "it begins with #!/bin/sh and a comment that says `Guess: ...`": "Guess: " in comment,
        "the comment says `Seen with PACKAGE VERSION: ...` after the guess": seen,
        "it says `set -eu` before all else": re.search(r"\A(?:#.*\n)+set -eu\n", script),
        "it makes a folder by `mktemp -d`": "=$(mktemp -d)" in body,
        "it removes that folder by `trap ... EXIT`": re.search(r"^trap '.*rm -rf \"\$\w+\".*' .*EXIT", body, re.M),
        "it installs the version that it names": seen is None or seen[1] in body,
        "it says `this has changed` where it exits with 1": re.search(r"this has changed.*exit 1", body, re.S),
        "it names no address but loopback": not URL.search(body),
        "it names no path of a machine": not MACHINE.search(body),
        "it leaves registries to the configuration of their clients": not OTHER_REGISTRY.search(body),
    }
    return [what for what, is_so in right.items() if not is_so]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_each_script_has_the_form(path: Path) -> None:
    assert problems(path.read_text()) == []
    assert path.stat().st_mode & stat.S_IXUSR, f"chmod +x {path.name}"


def test_the_index_lists_each_script_with_its_version() -> None:
    rows = re.findall(r"^\| \[(.+?)\]\((.+?)\) \| (.+?) \|", (FOLDER / "README.md").read_text(), re.M)
    assert [(name, link) for name, link, _ in rows] == [(path.name, path.name) for path in SCRIPTS]
    for path, (_, _, package) in zip(SCRIPTS, rows, strict=True):
        assert f"Seen with {package}:" in head(path.read_text())


GOOD = SCRIPTS[0].read_text()


@pytest.mark.parametrize(
    ("right", "wrong", "lacks"),
    [
        ("Guess: ", "It seems that ", "`Guess: ...`"),
        ("Seen with ", "With ", "`Seen with PACKAGE VERSION: ...`"),
        ("set -eu\n", "set -u\n", "`set -eu`"),
        ("trap ", ": ", "`trap ... EXIT`"),
        ("$(mktemp -d)", "there", "`mktemp -d`"),
        ("set -eu\n", "set -eu\ncurl https://example.org/package\n", "no address but loopback"),
        ("set -eu\n", "set -eu\ncd /home/me/project\n", "no path of a machine"),
        ('pip" install', 'pip" install --index-url there', "their clients"),
        ("this has changed", "well", "`this has changed`"),
    ],
)
def test_what_the_form_lacks_is_named(right: str, wrong: str, lacks: str) -> None:
    assert right in GOOD
    assert any(lacks in each for each in problems(GOOD.replace(right, wrong)))

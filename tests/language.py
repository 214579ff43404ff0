"""Find retired words and docstrings that open with a fragment: `python -m tests.language [PATH ...]`.

`make lint` runs it over the whole repository and holds the count at zero. GLOSSARY.md has the words in use. A word is
looked for in names (their parts: `is_told` has `told`), strings, comments, YAML files, templates and pages.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXEMPT = {
    "tests/language.py",
    "tests/test_language.py",
    "tests/harness/reproduction/test_earlier_formats.py",
    "harness/conformance/allure_report.py",  # calls Allure, which has the word in its interface
    "results/records/formats.py",  # has the names of earlier formats
    "requirements.lock",
    "LICENSE",
}
SUFFIXES = {".py", ".pyi", ".md", ".yaml", ".j2", ".html", ".js", ".css", ".sh", ".toml"}
RETIRED = {
    "story": "scenario",
    "stories": "scenarios",
    "told": "reported, notified, sent",
    "untold": "unreported",
    "sentence": "message",
    "sentences": "messages",
    "lively": "LIVENESS_TIMEOUT_MS",
    "tenure": "leader term",
    "elder": "original",
    "newcomer": "duplicate",
    "drawn": "generated",
    "undrawn": "not generated",
    "surroundings": "context",
    "premises": "environment",
    "seam": "interface",
    "keeper": "active faults",
    "wish": "request, target state",
    "wishes": "requests, target state",
    "misled": "misconfigured",
    "obituary": "exit summary",
    "hindrance": "blocker",
    "heed": "install handlers",
    "lonely": "standalone",
    "byhand": "interactive",
    "lacking": "unavailable reason",
    "patience": "timeout",
    "trouble": "infrastructure problem",
    "troubles": "infrastructure problems",
    "island": "minority side",
    "portal": "TCP forwarder",
    "calm": "clear",
    "whoever": "the noun of the machine",
    "whomever": "the noun of the machine",
    "whom": "the noun of the machine",
    "who": "the noun of the machine",
    "nobody": "no broker, no client, nothing",
    "somebody": "a broker, a client",
    "everybody": "each broker, all clients",
}
"""Each retired word and what stands in its place."""
FRAGMENT = re.compile(r"(What|Whether|Of|Where|Until|Who|Whose|Whom|Whoever)\b")
_WORD = re.compile(r"[A-Za-z]+")
_FIXED_NAMES = re.compile("zookeeper|jre-headless", re.IGNORECASE)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True)
class Mark:
    """One place that `make lint` refuses."""

    path: str
    line: int
    problem: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.problem}"


def check_text(path: str, text: str) -> Iterator[Mark]:
    """Yield the retired words of a file of any kind."""
    for number, line in enumerate(text.splitlines(), start=1):
        yield from _words(path, number, line)


def check_python(path: str, text: str) -> Iterator[Mark]:
    """Yield the retired words of a module, and its docstrings that open with a fragment."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NAME, tokenize.STRING, tokenize.COMMENT):
            for offset, line in enumerate(token.string.splitlines()):
                yield from _words(path, token.start[0] + offset, line)
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", ())
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(ast.Constant(value=str(docstring))) if opening := FRAGMENT.match(docstring):
                    yield Mark(path, statement.lineno, f"a docstring opens with the fragment `{opening[0]} ...`")


def check(files: Iterable[Path]) -> Iterator[Mark]:
    """Yield the marks of all files that are checked; paths are relative to the repository."""
    for file in sorted(files):
        path = file.relative_to(ROOT).as_posix()
        if path not in EXEMPT and (file.suffix in SUFFIXES or file.parent.name == ".ci" or file.name == "Makefile"):
            text = file.read_text(encoding="utf-8")
            yield from (check_python if file.suffix in (".py", ".pyi") else check_text)(path, text)


def _words(path: str, number: int, line: str) -> Iterator[Mark]:
    for word in _WORD.findall(_FIXED_NAMES.sub(" ", line)):
        for part in _PART.findall(word):
            if (instead := RETIRED.get(part.lower())) is not None:
                yield Mark(path, number, f"`{word}` is retired: {instead}")


def _tracked(paths: list[str]) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z", *paths], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in listed.stdout.split("\0") if name and not (path := ROOT / name).is_symlink()]


def main() -> int:
    marks = list(check(_tracked(sys.argv[1:])))
    for mark in marks:
        print(mark)
    print(f"{len(marks)} retired words and fragments", file=sys.stderr)
    return 1 if marks else 0


if __name__ == "__main__":
    sys.exit(main())

"""Print the size and the shape of the source, as a table: `python -m tests.house [ROOT]`.

Source is the Python of the five folders of the package. A place to change is a file that names the word itself: its
own, and each list, dispatch or text that has to know it. The scenarios, which use words, are not counted. A word, which
a fault is as well, is one file by rule: its module belongs to no importer, however short it is.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

FOLDERS = ("harness", "cluster_impl", "suites", "faults", "results")
PACKAGE = "fencepost"
LONG_FUNCTION = 60
SHORT_MODULE = 60
WORDS = {"condition": "condition", "request": "request", "do": "step"}
"""The field that holds the name of a word in a plan file, and the kind of the word."""
ENVELOPES = ("await", "probe")
"""Steps that only hold a word of another kind."""
MADE = "suites/words.py"
"""The list of all words that their registries make: no place to change, and what it imports are the files of words."""
OPTIONS = ("shard", "durations", "inconclusive", "quarantine")
"""Options that the command hands to the tests of its suite."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @property
    def name(self) -> str:
        """The dotted name that others import."""
        return ".".join((PACKAGE, *Path(self.path).with_suffix("").parts)).removesuffix(".__init__")

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @cached_property
    def names(self) -> frozenset[str]:
        """Everything that the module defines, imports, uses, or lists as a string."""
        return frozenset(name for node in self.nodes for name in _names(node))

    @property
    def imported(self) -> Iterator[str]:
        """The dotted names of modules that may be imported: of `from a import b` both `a` and `a.b`."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                yield node.module
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def read(root: Path) -> list[Module]:
    """Return all modules of the source below the root of a repository."""
    files = (file for folder in FOLDERS for file in sorted((root / folder).rglob("*.py")))
    return [Module(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")) for file in files]


def functions(modules: list[Module]) -> dict[str, int]:
    """Return the lines of each function and method, decorators left out."""
    return {
        f"{module.path}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for module in modules
        for node in module.nodes
        if isinstance(node, Function)
    }


def methods(modules: list[Module]) -> dict[str, int]:
    """Return the number of methods of each class, properties included."""
    return {
        f"{module.path}:{node.lineno} {node.name}": sum(isinstance(statement, Function) for statement in node.body)
        for module in modules
        for node in module.nodes
        if isinstance(node, ast.ClassDef)
    }


def importers(modules: list[Module]) -> dict[str, set[str]]:
    """Return the paths of the modules that import each module, by its path."""
    paths = {module.name: module.path for module in modules}
    users: dict[str, set[str]] = {module.path: set() for module in modules}
    for module in modules:
        for path in {paths[name] for name in module.imported if name in paths} - {module.path}:
            users[path].add(module.path)
    return users


def places(modules: list[Module]) -> dict[str, list[int]]:
    """Return for each kind of word how many files name each word of it."""
    counted: dict[str, list[int]] = defaultdict(list)
    owners = [module for module in modules if module.path.startswith("harness/")]
    lists = [*owners, *(module for module in modules if module.path == "suites/vocabulary.py")]
    mentions = Counter(name for module in lists for name in module.names)
    users = importers(owners)
    for module in owners:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef) and (kind := _kind_of_word(node)) is not None:
                counted[kind].append(mentions[node.name])
        if any(_declares_check(statement) for statement in module.tree.body):
            counted["checker"].append(1 + len(users[module.path]))
    for option in OPTIONS:
        spellings = {option, f"--{option}", f"--{PACKAGE}-{option}"}
        counted["option"].append(sum(bool(_declared(module) & spellings) for module in owners))
    return counted


def figures(root: Path) -> Mapping[str, str]:
    """Return each figure of a repository, as printed."""
    modules = read(root)
    lengths, sizes, users = functions(modules), methods(modules), importers(modules)
    largest = max(sizes, key=lambda name: sizes[name], default="none")
    plain = [module for module in modules if not module.path.endswith("/__init__.py")]
    single = [module for module in plain if len(users[module.path]) == 1]
    short = [module for module in single if module.lines < SHORT_MODULE and MADE not in users[module.path]]
    table = {"lines": f"{sum(module.lines for module in modules)} in {len(modules)} files"}
    for folder in FOLDERS:
        inside = [module.lines for module in modules if module.path.startswith(f"{folder}/")]
        table[f"lines of {folder}"] = f"{sum(inside)} in {len(inside)} files"
    table |= {
        f"functions over {LONG_FUNCTION} lines": str(sum(length > LONG_FUNCTION for length in lengths.values())),
        "class with most methods": f"{largest}, {sizes.get(largest, 0)}",
        "modules with one importer": str(len(single)),
        f"below {SHORT_MODULE} lines, no word": str(len(short)),
    }
    for kind, counts in sorted(places(modules).items()):
        table[f"files that name one {kind}"] = f"{median(counts):g} (at most {max(counts)}, of {len(counts)})"
    return table


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Constant(value=str(text)) if text.isidentifier():
            yield text


def _kind_of_word(node: ast.ClassDef) -> str | None:
    for statement in node.body:
        match statement:
            case ast.AnnAssign(
                target=ast.Name(id=field), annotation=ast.Subscript(value=ast.Name("Literal"), slice=ast.Constant(word))
            ) if field in WORDS and word not in ENVELOPES:
                return WORDS[field]
    return None


def _declares_check(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Name("Check"))) | ast.AnnAssign(value=ast.Call(func=ast.Name("Check"))):
            return True
    return False


def _declared(module: Module) -> frozenset[str]:
    """Return the parameters, the fields and the strings of a module."""
    return frozenset(name for node in module.nodes for name in _declarations(node))


def _declarations(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.arg(arg=name) | ast.AnnAssign(target=ast.Name(id=name)) | ast.Constant(value=str(name)):
            yield name


def main(root: Path) -> None:
    for name, value in figures(root).items():
        print(f"{name:<32}{value}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1])

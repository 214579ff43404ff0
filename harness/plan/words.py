"""The words of the plan's language: classes that are found in their modules by the names that plans use."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TypeVar

from fencepost.faults.parameters import PlanModel, key_of

Word = TypeVar("Word", bound=PlanModel)


def words_of(package: str, path: Iterable[str], base: type[Word], key: str) -> Mapping[str, type[Word]]:
    """Return the subclasses of `base` that the modules of a package define, by the default of their field `key`."""
    found: dict[str, type[Word]] = {}
    for module in sorted(each.name for each in pkgutil.iter_modules(path)):
        loaded = import_module(f"{package}.{module}")
        for each in vars(loaded).values():
            if isinstance(each, type) and issubclass(each, base) and each.__module__ == loaded.__name__:
                found |= {each.model_fields[key].default: each} if key in each.model_fields else {}
    return found


def check_phrase(word: type[PlanModel], what: str, meaning: str) -> None:
    """Raise TypeError unless the word has a phrase, of which each `{key}` is a field of it or a property."""
    phrase: str | None = getattr(word, "phrase", None)
    if phrase is None:
        raise TypeError(f"the {what} {word.__name__} has no phrase: say in `phrase` {meaning}")
    known = {*map(key_of, word.model_fields), *dir(word)}
    if unknown := [key for key in re.findall(r"{(\w+)}", phrase) if key not in known]:
        raise TypeError(f"the phrase of the {what} {word.__name__} names {unknown[0]}, which it does not have")

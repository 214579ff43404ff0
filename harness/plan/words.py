"""The words of the plan's language: classes that are found in their modules by the names that plans use."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from fencepost.faults.parameters import PlanModel, key_of

if TYPE_CHECKING:
    from fencepost.harness.plan.base import NodeRefs
    from fencepost.harness.plan.model import Plan


class Word(PlanModel):
    """A condition, a request or a step: a class with a field that holds its name in plans, and a phrase."""

    named_by: ClassVar[str]
    """The field that holds its name. A class without it is a base."""
    called: ClassVar[str]
    """The kind of word, for errors."""
    phrase: ClassVar[str]
    """The word as a clause or an imperative, with its fields in braces: `{node} is active`."""

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        if getattr(cls, "named_by", None) not in cls.model_fields:
            return
        phrase: str | None = getattr(cls, "phrase", None)
        if phrase is None:
            raise TypeError(f"the {cls.called} {cls.__name__} has no phrase: say in `phrase` what it means")
        known = {*map(key_of, cls.model_fields), *dir(cls)}
        if unknown := [key for key in re.findall(r"{(\w+)}", phrase) if key not in known]:
            raise TypeError(f"the phrase of the {cls.called} {cls.__name__} names {unknown[0]}, which it does not have")

    harmless: ClassVar[bool] = False
    """It is no cause of what nodes do after it. A request: any client may send it at any time, and it moves no leader
    of another partition. A fault counts by its own events."""

    sends: ClassVar[tuple[str, ...]] = ()
    """The requests of clients that it always sends, by their names in Kafka's protocol: `create_topics`."""

    @property
    def requests(self) -> tuple[str, ...]:
        """The requests of clients that it sends with the values that it has."""
        return self.sends

    @property
    def clause(self) -> str:
        """The phrase for the values that this word has."""
        return self.phrase

    @property
    def needs_controller(self) -> str | None:
        """The part of the word that needs a controller, beside its references; None if there is none."""
        return None

    @property
    def ended(self) -> NodeRefs | None:
        """The nodes that have ended once the word is done, so that a step may start them again."""
        return None

    def problems(self, plan: Plan) -> Iterator[tuple[str, str]]:
        """Yield (key, message) for what is wrong with this word in a plan, beside what it refers to."""
        return iter(())


Kind = TypeVar("Kind", bound=Word)


def words_of(package: str, path: Iterable[str], base: type[Kind]) -> Mapping[str, type[Kind]]:
    """Return the subclasses of `base` that the modules of a package define, by their names.

    Raise TypeError for one without a name or a docstring, and for a name that two have: no word is left out silently.
    """
    found: dict[str, type[Kind]] = {}
    for module in sorted(each.name for each in pkgutil.iter_modules(path)):
        loaded = import_module(f"{package}.{module}")
        for each in vars(loaded).values():
            if not (isinstance(each, type) and issubclass(each, base) and each.__module__ == loaded.__name__):
                continue
            if base.named_by in each.model_fields:
                found[_name_of(each, found)] = each
    return found


def _name_of(word: type[Word], others: Mapping[str, type[Word]]) -> str:
    name, called = word.model_fields[word.named_by].default, f"the {word.called} {word.__name__}"
    if not isinstance(name, str):
        raise TypeError(f'{called} has no name: write `{word.named_by}: Literal["name"] = "name"`')
    if name in others:
        raise TypeError(f"{called} has the name `{name}`, as {others[name].__name__} has")
    if not vars(word).get("__doc__"):
        raise TypeError(f"{called} has no docstring: it is its help in docs/plan-file.md")
    return name

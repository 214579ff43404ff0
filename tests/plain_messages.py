"""A plugin of mypy: no message shows the representation of an object, such as `node-6 is Running.RUNNING`.

It looks at what f-strings, `str.format`, `str()` and `map(str, ...)` are given. A class of this project needs a
`__str__` of its own there, and so does an enumeration (`StrEnum` has one); containers show the representations of what
is in them. The reference cluster and the tests are left out: their messages are for developers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mypy.nodes import NameExpr, TypeInfo
from mypy.plugin import FunctionContext, MethodContext, Plugin
from mypy.types import Instance, TupleType, Type, UnionType, get_proper_type

_OURS = ("fencepost", "tests.")
_LEFT_OUT = ("cluster_impl/", "tests/")
_CONTAINERS = ("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "builtins.dict")


class PlainMessages(Plugin):
    """Reports each place that would show a representation."""

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        return _check if fullname == "builtins.str.format" else None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        return {"builtins.str": _check, "builtins.map": _check_map}.get(fullname)


def plugin(version: str) -> type[Plugin]:
    """Return the plugin, as mypy asks for it."""
    return PlainMessages


def _check(context: MethodContext | FunctionContext) -> Type:
    _report(context, (each for given in context.arg_types for each in given))
    return context.default_return_type


def _check_map(context: FunctionContext) -> Type:
    function = context.args[0][0] if context.args and context.args[0] else None
    if isinstance(function, NameExpr) and function.fullname == "builtins.str" and len(context.arg_types) > 1:
        mapped = (get_proper_type(each) for each in context.arg_types[1])
        _report(context, (each.args[0] for each in mapped if isinstance(each, Instance) and each.args))
    return context.default_return_type


def _report(context: MethodContext | FunctionContext, given: Iterable[Type]) -> None:
    if any(part in context.api.path for part in _LEFT_OUT):
        return
    for name in filter(None, map(_shown, given)):
        message = f"the text would show the representation of {name}: give its value, or a `__str__`"
        context.api.fail(message, context.context)


def _shown(given: Type, *, inside: bool = False) -> str:
    """Return the name of a class whose representation a text would show; empty if there is none."""
    kind = get_proper_type(given)
    if isinstance(kind, UnionType):
        return next(filter(None, (_shown(each, inside=inside) for each in kind.items)), "")
    if isinstance(kind, TupleType) and kind.partial_fallback.type.fullname == "builtins.tuple":
        return next(filter(None, (_shown(each, inside=True) for each in kind.items)), "")
    if isinstance(kind, TupleType):
        kind = kind.partial_fallback
    if not isinstance(kind, Instance):
        return ""
    if kind.type.fullname in _CONTAINERS:
        return next(filter(None, (_shown(each, inside=True) for each in kind.args)), "")
    return "" if _is_plain(kind.type, "__repr__" if inside else "__str__") else kind.type.name


def _is_plain(info: TypeInfo, method: str) -> bool:
    """Return whether a class of the project defines how it is shown; all others are left alone."""
    if not info.fullname.startswith(_OURS) and not info.is_enum:
        return True
    for base in info.mro:
        if base.fullname in ("builtins.object", "enum.Enum"):
            return False
        if method in base.names or (method == "__str__" and "__format__" in base.names):
            return True
    return True

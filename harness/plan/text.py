"""The text of plan files as fencepost writes them, by libyaml: in a tenth of the time of ruamel.yaml, which reads any.

ruamel.yaml knows the lines of what it has read, which errors name. So `read` takes no text but one that `write` gives,
which has no mistake of YAML to name.
"""

from __future__ import annotations

import re
from typing import Any

import yaml
from ruamel.yaml.resolver import implicit_resolvers

from fencepost.harness.yaml_file import DEEPEST, open_brackets

_WIDTH = 110
"""The column after which a line is folded."""
_INDENTED = re.compile(rf"^[ ?-]{{{2 * DEEPEST}}}", re.MULTILINE)
"""A line that may be of more levels than a plan has."""


class _Dumper(yaml.CSafeDumper):  # type: ignore[misc]  # a library without types
    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]
    pass


for _class in (_Dumper, _Loader):  # they know the types of YAML 1.1, in which `no` is false and 1:30 a number
    _class.yaml_implicit_resolvers = {}
    for _versions, _tag, _pattern, _first in implicit_resolvers:
        if (1, 2) in _versions:
            _class.add_implicit_resolver(_tag, _pattern, _first)


def write(data: Any) -> str:
    """Return plain data as YAML: mappings and lists of scalars on one line, all others in block style."""
    text: str = yaml.dump(
        data, Dumper=_Dumper, default_flow_style=None, sort_keys=False, width=_WIDTH, allow_unicode=True
    )
    return text


def read(text: str) -> Any:
    """Return the plain data in a text that `write` gives, None for any other text."""
    if _INDENTED.search(text) or open_brackets(text) > DEEPEST:  # libyaml calls itself for each level
        return None
    try:
        data = yaml.load(text, Loader=_Loader)
        return data if write(data) == text else None
    except (yaml.YAMLError, ValueError):
        return None

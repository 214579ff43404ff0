#!/bin/sh
# Guess: a plugin of mypy cannot see f-strings. Its hooks are for calls, attributes, classes and
# types; an f-string is none of these, and the types of what stands in its braces are checked for nothing.
#
# Seen with mypy 2.4.1: the parser makes `'{:{}}'.format(value, '')` of each part in braces, so the hook for
# the method `builtins.str.format` is called with the type of the value, and f"{value!r}" arrives in the same way. A
# plugin of a dozen lines can refuse to print an enumeration by an f-string. Output:
#   sample.py:8: error: builtins.str.format got sample.State  [misc]
#   sample.py:9: error: builtins.str.format got sample.State  [misc]
#   sample.py:10: error: builtins.str.format got Literal['up']?  [misc]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check mypy==2.4.1
cd "$folder"
cat > plugin.py <<'PLUGIN'
from mypy.plugin import MethodContext, Plugin
from mypy.types import Type


def check(context: MethodContext) -> Type:
    context.api.fail(f"builtins.str.format got {context.arg_types[0][0]}", context.context)
    return context.default_return_type


class Seen(Plugin):
    def get_method_hook(self, fullname):
        return check if fullname == "builtins.str.format" else None


def plugin(version):
    return Seen
PLUGIN
cat > sample.py <<'SAMPLE'
from enum import Enum

class State(Enum):
    UP = "up"

def show(state: State) -> None:
    print("a text without braces")
    print(f"it is {state}")
    print(f"it is {state!r}")
    print(f"it is {state.value}")
SAMPLE
printf '[mypy]\nplugins = plugin.py\n' > mypy.ini
"$folder/venv/bin/mypy" --version
"$folder/venv/bin/mypy" --config-file mypy.ini --no-incremental sample.py | tee seen || true
same() {
    grep -q '^sample.py:8: error: builtins.str.format got sample.State' seen &&
        grep -q '^sample.py:9: error: builtins.str.format got sample.State' seen &&
        grep -q "^sample.py:10: error: builtins.str.format got Literal\['up'\]" seen &&
        test "$(grep -c ': error:' seen)" = 3
}
same || { echo "this has changed: see the lines above, and those in the head of this script"; exit 1; } >&2

"""Every message of the wire, compiled from `definitions/`. Their types are in `messages.pyi`."""

from pathlib import Path

from fencepost.cluster_impl.wire.compiler import compile_message
from fencepost.cluster_impl.wire.schema import load

DEFINITIONS = [load(path) for path in sorted(Path(__file__).with_name("definitions").glob("*.json"))]

globals().update({definition.name: compile_message(definition, __name__) for definition in DEFINITIONS})

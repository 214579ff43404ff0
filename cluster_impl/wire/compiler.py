"""Compiles message definitions to Python classes, and each version of them to an encoder and a decoder.

A version is compiled when it is first used. Generated code handles runs of fixed-width fields with one `struct` call
and does not track its position: after a failure, the failed line of the generated source identifies the field, so the
path in an error costs nothing in the normal case.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from uuid import UUID

from fencepost.cluster_impl.wire import codec
from fencepost.cluster_impl.wire.codec import (
    Buffer,
    Codec,
    Malformed,
    Message,
    Put,
    RequestMessage,
    Struct,
    Unencodable,
    UnsupportedVersion,
)
from fencepost.cluster_impl.wire.decoder import DecoderSource
from fencepost.cluster_impl.wire.encoder import EncoderSource
from fencepost.cluster_impl.wire.schema import Definition, StructDefinition, Versions
from fencepost.cluster_impl.wire.source import Source, default_expression

_RUNTIME: dict[str, Any] = {
    "EMPTY": codec.EMPTY,
    "Malformed": Malformed,
    "NO_TAGS": codec.NO_TAGS,
    "UUID": UUID,
    "Unencodable": Unencodable,
    "ZERO_UUID": UUID(int=0),
    "pack": struct.pack,
    "put_tags": codec.put_tags,
    "read_tags": codec.read_tags,
    "unpack_from": struct.unpack_from,
    "uuid_of": codec.uuid_of,
    "uvarint": codec.uvarint,
    "uvarint_rest": codec.uvarint_rest,
}


def compile_message(definition: Definition, module: str) -> type[Message]:
    """Return the class of a message, with the classes of its structs as attributes."""
    flexible_from = definition.flexible.low if definition.flexible.high >= 0 else definition.versions.high + 1
    message = _compile_class(
        definition.root,
        definition.name,
        module,
        RequestMessage if definition.kind == "request" else Message,
        API_KEY=definition.api_key,
        MIN_VERSION=definition.versions.low,
        MAX_VERSION=definition.versions.high,
        FLEXIBLE_FROM=flexible_from,
    )
    classes: dict[str, type[Struct]] = {}
    for nested in definition.structs:
        classes[nested.name] = _compile_class(nested, f"{definition.name}.{nested.name}", module, Struct)
        setattr(message, nested.name, classes[nested.name])
    classes[definition.name] = message
    message._codec = CompiledCodec(definition, classes)
    return message


def _compile_class(
    definition: StructDefinition, qualified_name: str, module: str, base: type, **attributes: object
) -> type[Any]:
    names = tuple(member.attribute for member in definition.fields)
    parameters = ", ".join(f"{member.attribute}={default_expression(member)}" for member in definition.fields)
    source = f"def __init__(self, {parameters + ', ' if parameters else ''}unknown_tags=NO_TAGS):\n"
    for member in definition.fields:
        value = member.attribute
        if member.is_array and member.default is not None:
            value = f"[] if {value} is EMPTY else {value}"
        source += f"    self.{member.attribute} = {value}\n"
    source += "    self.unknown_tags = unknown_tags\n"
    namespace: dict[str, Any] = {}
    exec(source, dict(_RUNTIME), namespace)
    namespace["__init__"].__qualname__ = f"{qualified_name}.__init__"
    return type(
        definition.name,
        (base,),
        {
            "__slots__": names,
            "__module__": module,
            "__qualname__": qualified_name,
            "__init__": namespace["__init__"],
            "_fields": names,
            **attributes,
        },
    )


class CompiledCodec(Codec):
    def __init__(self, definition: Definition, classes: dict[str, type[Struct]]) -> None:
        self._encoders = _OnDemand(definition, classes, EncoderSource)
        self._decoders = _OnDemand(definition, classes, DecoderSource)

    def encode(self, message: Message, version: int, put: Put) -> None:
        compiled = self._encoders[version]
        try:
            compiled.run(message, put)
        except (AttributeError, TypeError, struct.error, Unencodable) as error:
            raise Unencodable(compiled.explain(error)) from error

    def decode(self, buffer: Buffer, version: int, offset: int, exactly: bool) -> Any:
        compiled = self._decoders[version]
        end = len(buffer)
        try:
            message, position = compiled.run(buffer, offset, end)
        except (struct.error, IndexError) as error:
            raise Malformed(compiled.explain(error, "the message ends too early")) from error
        except (Malformed, UnicodeDecodeError) as error:
            raise Malformed(compiled.explain(error)) from error
        if exactly and position != end:
            raise Malformed(f"{compiled.title}: {end - position} bytes are left over")
        return message


@dataclass(frozen=True)
class _Compiled:
    """The functions of one version; `run` is that of the message itself."""

    title: str
    filename: str
    run: Callable[..., Any]
    labels: list[str] = field(repr=False)

    def explain(self, error: Exception, reason: str | None = None) -> str:
        path = ".".join(self._path(error.__traceback__))
        return f"{self.title}{' at ' + path if path else ''}: {reason or error}"

    def _path(self, traceback: TracebackType | None) -> Iterator[str]:
        """Yield the field that each generated frame was at, with the index of the element if it was in a loop."""
        while traceback is not None:
            frame = traceback.tb_frame
            if frame.f_code.co_filename == self.filename and (label := self.labels[traceback.tb_lineno - 1]):
                index = frame.f_locals.get(f"at_{label}")
                yield label if index is None else f"{label}[{index}]"
            traceback = traceback.tb_next


class _OnDemand(dict[int, _Compiled]):
    def __init__(self, definition: Definition, classes: dict[str, type[Struct]], source: type[Source]) -> None:
        self._definition = definition
        self._classes = classes
        self._source = source

    def __missing__(self, version: int) -> _Compiled:
        definition = self._definition
        versions: Versions = definition.versions
        if version not in versions:
            raise UnsupportedVersion(
                f"{definition.name} has no version {version}; it is defined for {versions.low} to {versions.high}"
            )
        title = f"{definition.name} v{version}"
        source = self._source(definition, version)
        filename = f"<{title} {source.verb}>"
        namespace = dict(_RUNTIME, **self._classes)
        exec(compile(source.text(), filename, "exec"), namespace)
        compiled = _Compiled(title, filename, namespace[f"{source.verb}_{definition.name}"], source.labels)
        self[version] = compiled
        return compiled

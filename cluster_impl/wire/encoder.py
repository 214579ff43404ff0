"""Writes the encoder of one version of a message."""

from __future__ import annotations

from fencepost.cluster_impl.wire.schema import FIXED, Definition, Field, StructDefinition
from fencepost.cluster_impl.wire.source import Source, default_expression


class EncoderSource(Source):
    """`encode_S(m, put)`. Fixed-width values wait in `_pending` so that a run of them is packed at once."""

    verb = "encode"

    def __init__(self, definition: Definition, version: int) -> None:
        self._pending: list[tuple[str, str]] = []
        super().__init__(definition, version)

    def _function(self, struct: StructDefinition) -> None:
        self._label = ""
        self._depth = 0
        self._emit(f"def encode_{struct.name}(m, put):")
        self._depth = 1
        tagged = []
        for field in struct.fields:
            self._label = field.name
            if not self._carries(field):
                self._refuse(field)
            elif self._in_tags(field):
                tagged.append(field)
            else:
                self._value(field, f"m.{field.attribute}")
        self._flush()
        self._label = ""
        if self.flexible:
            self._tags(tagged)
        else:
            self._emit("return")

    def _refuse(self, field: Field) -> None:
        """Check that a field that this version lacks is ignorable, or has its default."""
        if field.ignorable:
            return
        self._emit(f"if m.{field.attribute} != {_default_value(field)}:")
        self._emit(f"raise Unencodable(f'this version cannot carry the value {{m.{field.attribute}!r}}')", 1)

    def _value(self, field: Field, value: str) -> None:
        if field.is_array:
            self._array(field, value)
        elif field.type in FIXED:
            self._pending.append((FIXED[field.type], _packable(field.type, value)))
        elif field.struct is not None:
            self._flush()
            self._emit(f"encode_{field.struct.name}({value}, put)")
        else:
            self._text(field, value, self.version in field.nullable)

    def _text(self, field: Field, value: str, nullable: bool) -> None:
        width, encoded = ("h", ".encode()") if field.type == "string" else ("i", "")
        if nullable:
            self._flush()
            self._emit(f"v = {value}")
            self._null(width)
            value = "v"
        self._emit(f"v = {value}{encoded}")
        self._length("v", width)
        self._emit("put(v)")
        if nullable:
            self._depth -= 1

    def _null(self, width: str) -> None:
        """Open the branches for a nullable value `v`; the caller closes the second."""
        absent = {"h": "\\xff\\xff", "i": "\\xff\\xff\\xff\\xff"}[width]
        self._emit("if v is None:")
        self._emit("put(b'\\0')" if self.flexible else f"put(b'{absent}')", 1)
        self._emit("else:")
        self._depth += 1

    def _length(self, value: str, width: str) -> None:
        if self.flexible:
            self._flush()
            self._emit(f"put(uvarint(len({value}) + 1))")
        else:
            self._pending.append((width, f"len({value})"))
            self._flush()

    def _array(self, field: Field, value: str) -> None:
        self._flush()
        self._emit(f"v = {value}")
        nullable = self.version in field.nullable
        if nullable:
            self._null("i")
        self._length("v", "i")
        if field.type == "uuid" or field.type not in FIXED:
            self._emit(f"for at_{field.name}, e in enumerate(v):")
            self._depth += 1
            if field.struct is not None:
                self._emit(f"encode_{field.struct.name}(e, put)")
            elif field.type == "uuid":
                self._emit("put(e.bytes)")
            else:
                self._text(field, "e", nullable=False)
            self._depth -= 1
        else:
            self._emit(f"put(pack(f'>{{len(v)}}{FIXED[field.type]}', *v))")
        if nullable:
            self._depth -= 1

    def _tags(self, fields: list[Field]) -> None:
        """Write known tagged fields only if they differ from their default, and unknown ones always."""
        self._emit("tags = dict(m.unknown_tags)" if fields else "tags = m.unknown_tags")
        for field in fields:
            self._label = field.name
            self._emit(f"if {self._says_something(field)}:")
            self._depth += 1
            self._emit("value = []")
            self._emit("outer, put = put, value.append")
            self._value(field, f"m.{field.attribute}")
            self._flush()
            self._emit("put = outer")
            self._emit(f"tags[{field.tag}] = b''.join(value)")
            self._depth -= 1
        self._label = ""
        self._emit("if tags:")
        self._emit("put_tags(put, tags.items())", 1)
        self._emit("else:")
        self._emit("put(b'\\0')", 1)

    @staticmethod
    def _says_something(field: Field) -> str:
        if field.struct and not field.is_array:
            return f"m.{field.attribute} is not None and m.{field.attribute} != {field.struct.name}()"
        return f"m.{field.attribute} != {_default_value(field)}"

    def _flush(self) -> None:
        if self._pending:
            formats = "".join(letter for letter, _ in self._pending)
            values = ", ".join(value for _, value in self._pending)
            self._emit(f"put(pack('>{formats}', {values}))")
            self._pending.clear()


def _packable(type_name: str, value: str) -> str:
    return f"{value}.bytes" if type_name == "uuid" else value


def _default_value(field: Field) -> str:
    expression = default_expression(field)
    return "[]" if expression == "EMPTY" else expression

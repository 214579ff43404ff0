"""Writes the Python source of one version of a message: a function for each struct, to encode or to decode it."""

from __future__ import annotations

from typing import ClassVar

from cluster_impl.wire.schema import FIXED, Definition, Field, Struct

_WIDTH = {"?": 1, "b": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "16s": 16}


def default_expression(field: Field) -> str:
    """The source of a field's default, as an argument of a generated constructor."""
    if field.default is None:
        return "None"
    if field.is_array:
        return "EMPTY"
    if field.type == "uuid":
        return "ZERO_UUID"
    return repr(field.default.encode() if field.type == "bytes" and isinstance(field.default, str) else field.default)


class Source:
    """Lines of source, each labelled with the field that it deals with ("" for none)."""

    verb: ClassVar[str]

    def __init__(self, definition: Definition, version: int) -> None:
        self.version = version
        self.flexible = version in definition.flexible
        self.labels: list[str] = []
        self._lines: list[str] = []
        self._label = ""
        self._depth = 0
        for struct in (*definition.structs, definition.root):
            self._function(struct)

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def _function(self, struct: Struct) -> None:
        raise NotImplementedError

    def _emit(self, line: str, depth: int = 0) -> None:
        self._lines.append("    " * (self._depth + depth) + line)
        self.labels.append(self._label)

    def _carries(self, field: Field) -> bool:
        return self.version in field.versions

    def _in_tags(self, field: Field) -> bool:
        return self.flexible and field.tag >= 0 and self.version in field.tagged


class EncoderSource(Source):
    """`encode_S(m, put)`. Fixed-width values wait in `_pending` so that a run of them is packed at once."""

    verb = "encode"

    def __init__(self, definition: Definition, version: int) -> None:
        self._pending: list[tuple[str, str]] = []
        super().__init__(definition, version)

    def _function(self, struct: Struct) -> None:
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
        """A field that this version lacks may be dropped only if it is ignorable or says nothing."""
        if field.ignorable:
            return
        default = "[]" if default_expression(field) == "EMPTY" else default_expression(field)
        self._emit(f"if m.{field.attribute} != {default}:")
        self._emit(f"raise Unencodable(f'this version cannot carry the value {{m.{field.attribute}!r}}')", 1)

    def _value(self, field: Field, value: str) -> None:
        if field.is_array:
            self._array(field, value)
        elif field.type in FIXED:
            self._pending.append((FIXED[field.type], _packable(field.type, value)))
        elif field.struct is not None:
            self._emit(f"encode_{field.struct.name}({value}, put)")
        else:
            self._text(field, value, self.version in field.nullable)

    def _text(self, field: Field, value: str, nullable: bool) -> None:
        self._emit(f"v = {value}")
        raw = "v.encode()" if field.type == "string" else "v"
        width = "h" if field.type == "string" else "i"
        if nullable:
            self._flush()
            self._null(width)
        self._emit(f"v = {raw}")
        self._length("v", width)
        self._emit("put(v)")
        if nullable:
            self._depth -= 1

    def _null(self, width: str) -> None:
        """Opens the branches for a nullable value `v`; the caller closes the second."""
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
        """Known tagged fields are written only if they say more than their default, unknown ones always."""
        self._emit("tags = dict(m.unknown_tags)" if fields else "tags = m.unknown_tags")
        for field in fields:
            self._label = field.name
            default = f"{field.struct.name}()" if field.struct else default_expression(field)
            absent = "(None, [])" if field.is_array else f"(None, {default})" if field.struct else f"({default},)"
            self._emit(f"if m.{field.attribute} not in {absent}:")
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

    def _flush(self) -> None:
        if self._pending:
            formats = "".join(letter for letter, _ in self._pending)
            values = ", ".join(value for _, value in self._pending)
            self._emit(f"put(pack('>{formats}', {values}))")
            self._pending.clear()


class DecoderSource(Source):
    """`decode_S(buf, p, end)` -> (value, position after it). `_pending` as above, for unpacking."""

    verb = "decode"

    def __init__(self, definition: Definition, version: int) -> None:
        self._pending: list[tuple[str, str, str]] = []
        self._smallest: dict[str, int] = {}
        super().__init__(definition, version)

    def _function(self, struct: Struct) -> None:
        self._smallest[struct.name] = self._smallest_size(struct)
        self._label = ""
        self._depth = 0
        self._emit(f"def decode_{struct.name}(buf, p, end):")
        self._depth = 1
        tagged = []
        for field in struct.fields:
            self._label = field.name
            target = f"x_{field.attribute}"
            if not self._carries(field) or self._in_tags(field):
                default = default_expression(field)
                self._emit(f"{target} = {'[]' if default == 'EMPTY' else default}")
            if self._carries(field):
                if self._in_tags(field):
                    tagged.append(field)
                else:
                    self._value(field, target)
        self._flush()
        self._label = ""
        if self.flexible:
            self._tags(tagged)
        arguments = "".join(f"x_{field.attribute}, " for field in struct.fields)
        self._emit(f"return {struct.name}({arguments}{'tags' if self.flexible else 'NO_TAGS'}), p")

    def _value(self, field: Field, target: str) -> None:
        if field.is_array:
            self._array(field, target)
        elif field.type in FIXED:
            self._pending.append((FIXED[field.type], target, field.name))
            if field.type == "uuid":
                self._flush()
                self._emit(f"{target} = uuid_of({target})")
        elif field.struct is not None:
            self._emit(f"{target}, p = decode_{field.struct.name}(buf, p, end)")
        else:
            self._text(field, target, self.version in field.nullable)

    def _length(self, width: str) -> None:
        """Reads the length of what follows into `n`; -1 is null."""
        if self.flexible:
            self._flush()
            self._emit("n = buf[p]")
            self._emit("p += 1")
            self._emit("if n > 127:")
            self._emit("n, p = uvarint_rest(buf, p, n)", 1)
            self._emit("n -= 1")
        else:
            self._pending.append((width, "n", self._label))
            self._flush()

    def _null(self, target: str, nullable: bool) -> None:
        """Deals with a negative `n`; if null is allowed, opens a branch that the caller closes."""
        if nullable:
            self._emit("if n == -1:")
            self._emit(f"{target} = None", 1)
            self._emit("else:")
            self._depth += 1
        self._emit("if n < 0:")
        self._emit("raise Malformed('null is not allowed' if n == -1 else f'the length {n}')", 1)

    def _text(self, field: Field, target: str, nullable: bool) -> None:
        self._length("h" if field.type == "string" else "i")
        self._null(target, nullable)
        self._emit("q = p + n")
        self._emit("if q > end:")
        self._emit("raise Malformed(f'{n} bytes are claimed, {end - p} are left')", 1)
        value = {"string": "str(buf[p:q], 'utf-8')", "bytes": "bytes(buf[p:q])", "records": "memoryview(buf)[p:q]"}
        self._emit(f"{target} = {value[field.type]}")
        self._emit("p = q")
        if nullable:
            self._depth -= 1

    def _array(self, field: Field, target: str) -> None:
        self._length("i")
        nullable = self.version in field.nullable
        self._null(target, nullable)
        smallest = self._smallest_element(field)
        self._emit(f"if n * {smallest} > end - p:")
        self._emit("raise Malformed(f'{n} elements are claimed, {end - p} bytes are left')", 1)
        if field.type in FIXED and field.type != "uuid":
            self._emit(f"{target} = list(unpack_from(f'>{{n}}{FIXED[field.type]}', buf, p))")
            self._emit(f"p += n * {smallest}")
        else:
            self._emit(f"{target} = []")
            self._emit(f"for at_{field.name} in range(n):")
            self._depth += 1
            if field.struct is not None:
                self._emit(f"e, p = decode_{field.struct.name}(buf, p, end)")
            elif field.type == "uuid":
                self._emit("e = uuid_of(bytes(buf[p:p + 16]))")
                self._emit("p += 16")
            else:
                self._text(field, "e", nullable=False)
            self._emit(f"{target}.append(e)")
            self._depth -= 1
        if nullable:
            self._depth -= 1

    def _tags(self, fields: list[Field]) -> None:
        self._emit("n = buf[p]")
        self._emit("p += 1")
        self._emit("tags = NO_TAGS")
        self._emit("if n:")
        self._depth += 1
        self._emit("if n > 127:")
        self._emit("n, p = uvarint_rest(buf, p, n)", 1)
        self._emit("places, after = read_tags(buf, p, end, n)")
        for field in fields:
            self._label = field.name
            self._emit(f"if {field.tag} in places:")
            self._depth += 1
            self._emit(f"p, until = places.pop({field.tag})")
            self._value(field, f"x_{field.attribute}")
            self._flush()
            self._emit("if p != until:")
            self._emit("raise Malformed(f'the tagged field claims to end at {until}, it ends at {p}')", 1)
            self._depth -= 1
        self._label = ""
        self._emit("if places:")
        self._emit("tags = {tag: bytes(buf[a:b]) for tag, (a, b) in places.items()}", 1)
        self._emit("p = after")
        self._depth -= 1

    def _flush(self) -> None:
        """Unpacks the pending run of fixed-width fields. An error is put down to the first of them."""
        if self._pending:
            formats = "".join(letter for letter, _, _ in self._pending)
            targets = ", ".join(target for _, target, _ in self._pending)
            label, self._label = self._label, self._pending[0][2]
            self._emit(f"{targets}, = unpack_from('>{formats}', buf, p)")
            self._emit(f"p += {sum(_WIDTH[letter] for letter, _, _ in self._pending)}")
            self._label = label
            self._pending.clear()

    def _smallest_size(self, struct: Struct) -> int:
        """The fewest bytes that an element of an array can take: bounds what a count can make us allocate."""
        size = 1 if self.flexible else 0
        for field in struct.fields:
            if self._carries(field) and not self._in_tags(field):
                if field.is_array or field.type not in FIXED:
                    size += 1 if self.flexible else 2 if field.type == "string" and not field.is_array else 4
                else:
                    size += _WIDTH[FIXED[field.type]]
        return max(size, 1)

    def _smallest_element(self, field: Field) -> int:
        if field.struct is not None:
            return self._smallest[field.struct.name]
        if field.type in FIXED:
            return _WIDTH[FIXED[field.type]]
        return 1 if self.flexible else 2 if field.type == "string" else 4


def _packable(type_name: str, value: str) -> str:
    return f"{value}.bytes" if type_name == "uuid" else value

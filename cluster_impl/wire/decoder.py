"""Writes the decoder of one version of a message, which trusts no length and no count that it reads."""

from __future__ import annotations

from fencepost.cluster_impl.wire.schema import FIXED, Definition, Field, StructDefinition
from fencepost.cluster_impl.wire.source import Source, default_expression

_WIDTH = {"?": 1, "b": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "16s": 16}


class DecoderSource(Source):
    """`decode_S(buf, p, end)` -> (value, position after it). `_pending` as above, for unpacking."""

    verb = "decode"

    def __init__(self, definition: Definition, version: int) -> None:
        self._pending: list[tuple[str, str, str]] = []
        self._smallest: dict[str, int] = {}
        super().__init__(definition, version)

    def _function(self, struct: StructDefinition) -> None:
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
            self._flush()
            self._emit(f"{target}, p = decode_{field.struct.name}(buf, p, end)")
        else:
            self._text(field, target, self.version in field.nullable)

    def _length(self, width: str) -> None:
        """Read the length of what follows into `n`; -1 is null."""
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
        """Handle a negative `n`; if null is allowed, open a branch that the caller closes."""
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
        """Unpack the pending run of fixed-width fields. An error is attributed to the first of them."""
        if self._pending:
            formats = "".join(letter for letter, _, _ in self._pending)
            targets = ", ".join(target for _, target, _ in self._pending)
            label, self._label = self._label, self._pending[0][2]
            self._emit(f"{targets}, = unpack_from('>{formats}', buf, p)")
            self._emit(f"p += {sum(_WIDTH[letter] for letter, _, _ in self._pending)}")
            self._label = label
            self._pending.clear()

    def _smallest_size(self, struct: StructDefinition) -> int:
        """Return the fewest bytes that an element of an array can take, which limits the memory that a count claims."""
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

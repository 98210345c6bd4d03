"""A saved trace is JSON: how it is written, and how it is read, although anybody may have written or damaged
it.

Note [Reading a saved trace]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~
Whatever the text is, it is refused with `InvalidTrace`, which names the place in the document, or it becomes
a trace that the viewer can rely on. The records themselves say what they may hold, and the readers are
derived from that: the types of their fields, in `fields` what goes beyond Python's types, and in their method
`consistent` what their parts have to do with each other. An id refers to what came before, in this event or
in an earlier one, because a recorder has seen nothing else.

The text is measured before it is parsed, because Python's objects take up to a hundred times as many bytes
as the text that they come from.
"""

from __future__ import annotations

import functools
import json
import math
import re
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from ..fields import CALL, EXACT, LAST, LATER, MODULE_CALL, NEW, NODE, ONCE, TENSOR, Bounds, Id, OneOf
from ..protocol import NAN
from ..words import clean, shorten, text

# ─── Plain data in JSON's types


def plain_data(value: Any) -> Any:
    """`value` in JSON's types."""
    if hasattr(value, "_asdict"):
        return {key: plain_data(item) for key, item in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [plain_data(item) for item in value]
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value


# ─── A saved trace is read: JSON that anybody may have written or damaged


LARGEST = 48 << 20  # bytes of a document
ROOM = 180 << 20  # bytes that it and its objects may take
LONGEST = 1 << 18  # characters of one text
SIZES = ((",", 72), ("[", 72), ("{", 150), (":", 40))  # bytes of an item, a list, an object, a key of it
KEYS, UNUSUAL = 16, 70  # the most of a record; what each costs where there are more, in a large table
FOUND = 40  # columns of what was found, in a sentence about it
FORMS: dict[str, Callable[[Any], Any]] = {
    TENSOR: re.compile(r"t\d{1,15}(\.\d{1,15})?", re.ASCII).fullmatch,
    NODE: re.compile(r"n\d{1,15}", re.ASCII).fullmatch,
    CALL: range(1, EXACT).__contains__,
    MODULE_CALL: range(EXACT).__contains__,
}
Read = Callable[[Any], Any]


class InvalidTrace(ValueError):
    """A text is not a saved trace, or a damaged one. `key` is the sentence of the catalogue that says what is
    wrong, `path` the place in the document (`events[3].shape`; "" for all of it)."""

    def __init__(self, key: str, found: object = "", **values: object) -> None:
        super().__init__(key)
        self.key, self.path = key, ""
        self._values = {"found": excerpt(found), **values}

    def inside(self, step: str) -> InvalidTrace:
        """The same, seen from one level further out."""
        self.path = step + (self.path if self.path.startswith("[") or not self.path else f".{self.path}")
        return self

    def sentence(self, lang: str | None = None) -> str:
        """What is wrong, in a language."""
        return text(self.key, lang, where=self.path, **self._values)

    __str__ = sentence


def excerpt(found: Any) -> str:
    """What was found, as far as a sentence has room for it."""
    if isinstance(found, list | dict):
        return "[…]" if isinstance(found, list) else "{…}"
    return shorten(
        clean(json.dumps(found[:FOUND] if isinstance(found, str) else found, ensure_ascii=False)), FOUND
    )


# ── the text ────────────────────────────────────────────────────────────────────────────────────────────────


def parse_json(written: str | bytes) -> Any:
    """What a text of JSON says, if it is of a bearable size."""
    if len(written) > LARGEST:
        raise InvalidTrace("trace_too_large", most=LARGEST >> 20)
    try:
        document = written if isinstance(written, str) else written.decode()
        if room_of(document) <= ROOM:
            return json.loads(document)
    except RecursionError:
        raise InvalidTrace("trace_too_deep") from None
    except ValueError as problem:  # no JSON, no UTF-8, or an integer of more digits than Python takes
        raise InvalidTrace("trace_no_json", problem=clean(str(problem))) from None
    raise InvalidTrace("trace_too_large", most=ROOM >> 20)


def room_of(document: str) -> int:
    """The bytes that a document and its objects take at most: each object begins with one of these signs, and
    texts are in both."""
    width = 1 if document.isascii() else 4
    more = max(0, document.count(":") - KEYS * document.count("{"))
    signs = sum(document.count(sign) * size for sign, size in SIZES)
    return 2 * width * len(document) + signs + UNUSUAL * more


# ── readers ─────────────────────────────────────────────────────────────────────────────────────────────────


def exact(cls: type, found: Any) -> Any:
    """What was found, if it is of this very class: `True` is not an integer."""
    if found.__class__ is not cls:
        raise InvalidTrace("trace_wrong_type", found)
    return found


def read_text(found: Any) -> str:
    """Any text that can be shown."""
    if len(exact(str, found)) > LONGEST:
        raise InvalidTrace("trace_too_long", most=LONGEST)
    return found


def read_number(found: Any) -> Any:
    """A number of any kind. What is not finite or is complex is written as text, as `str` has it."""
    kind = found.__class__
    if kind is float and math.isfinite(found):
        return found
    if kind is bool or (kind is int and -(2**63) <= found < 2**64):
        return found
    number = parse_number(found) if kind is str and len(found) < 100 else None
    if number is None:
        raise InvalidTrace("trace_no_number", found)
    return number


def parse_number(written: str) -> Any:
    """The number that `str` writes so; None if there is none. All NaNs are one object, so that they compare
    equal."""
    try:
        number = complex(written) if "j" in written else float(written)
    except ValueError:
        return None
    return None if str(number) != written else NAN if written == "nan" else number


def read_real(found: Any) -> Any:
    """A number that is not complex."""
    number = read_number(found)
    if number.__class__ is complex:
        raise InvalidTrace("trace_no_number", found)
    return number


@functools.cache
def hints(record: Any) -> dict[str, Any]:
    """The types of the fields of a record, in order."""
    return get_type_hints(record, include_extras=True)


class TraceReader:
    """Reads the records of one document, and knows the ids that came up in it. A list of `Any` of the records
    `kinds` says the class of each; those of `former` classes are passed over."""

    def __init__(self, many: Any, kinds: Mapping[str, Any], former: Collection[str]) -> None:
        self._kinds, self._former = kinds, former
        self._known: dict[str, set[Any]] = {kind: set() for kind in FORMS}
        self._ahead: list[tuple[str, Any]] = []  # ids that were used before they came up
        self._unknown: set[tuple[str, Any]] = set()  # those of them that did not
        integer: Read = functools.partial(exact, int)
        self._readers: dict[Any, Read] = {int: integer, bool: functools.partial(exact, bool), str: read_text}
        self._readers |= {float: read_real, Any: read_number, many: self._events}

    def whole(self, record: Any, found: Any) -> Any:
        """A record that may refer to all that came before and to its own parts."""
        read = self._reader(record)
        made = read(found)
        for state in getattr(made, "made", ()):
            if state.id in self._known[TENSOR]:
                raise InvalidTrace("trace_twice", state.id)
            self._known[TENSOR].add(state.id)
        if self._ahead:
            self._unknown = {(kind, id) for kind, id in self._ahead if id not in self._known[kind]}
            self._ahead.clear()
            if self._unknown:
                read(found)  # once more, which says where the first of them is
        return made

    def _reader(self, hint: Any) -> Read:
        known = self._readers.get(hint)
        if known is None:
            known = self._readers[hint] = self._derived(hint)
        return known

    def _derived(self, hint: Any) -> Read:
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Annotated:
            read, limit = self._reader(inner[0]), inner[1]
            return self._id(read, limit) if isinstance(limit, Id) else limited_reader(read, limit)
        if origin is tuple and inner[1:] == (...,):
            return list_reader(self._reader(inner[0]))
        if origin is tuple:
            return row_reader([self._reader(each) for each in inner])
        if origin in (Union, types.UnionType):
            return self._either(inner)
        return self._record(hint)

    def _id(self, read: Read, limit: Id) -> Read:
        kind, role, none = limit
        known, form = self._known[kind], FORMS[kind]

        def read_id(found: Any) -> Any:
            id = read(found)
            if id in known:
                if role == LAST:
                    known.remove(id)
                if role == ONCE and not self._unknown:
                    raise InvalidTrace("trace_twice", found)
            elif id in none:
                pass
            elif not form(id):
                raise InvalidTrace("trace_no_id", found)
            elif role in (NEW, ONCE):
                known.add(id)
            elif (kind, id) in self._unknown:
                raise InvalidTrace("trace_unknown", found)
            elif role != LATER:
                self._ahead.append((kind, id))
            return id

        return read_id

    def _either(self, inner: Sequence[Any]) -> Read:
        """One of several types, which JSON tells apart: null, an object, or anything else."""
        readers = {hasattr(one, "_fields"): self._reader(one) for one in inner if one is not type(None)}
        nullable, record, other = type(None) in inner, readers.get(True), readers.get(False)

        def read_either(found: Any) -> Any:
            if found is None and nullable:
                return None
            read = record if other is None or (record is not None and found.__class__ is dict) else other
            return read(found)  # type: ignore[misc]

        return read_either

    def _record(self, record: Any) -> Read:
        fields = [(name, self._reader(hint)) for name, hint in hints(record).items()]
        defaults, consistent = record._field_defaults, getattr(record, "consistent", None)

        def read_record(found: Any) -> Any:
            """What an older version wrote lacks fields that have a default."""
            exact(dict, found)
            made: list[Any] = []
            for name, read in fields:
                try:
                    if name not in found and name not in defaults:
                        raise InvalidTrace("trace_missing")
                    made.append(read(found[name]) if name in found else defaults[name])
                except InvalidTrace as problem:
                    raise problem.inside(name) from None
            whole = record._make(made)
            if consistent is not None and not consistent(whole):
                raise InvalidTrace("trace_inconsistent")
            return whole

        return read_record

    def _event(self, found: Any) -> Any:
        name = exact(dict, found).get("event")
        if name.__class__ is not str or name not in self._kinds:
            raise InvalidTrace("trace_out_of_range", name).inside("event")
        return self.whole(self._kinds[name], found)

    def _events(self, found: Any) -> tuple[Any, ...]:
        read = list_reader(lambda each: None if self._is_former(each) else self._event(each))
        return tuple(event for event in read(found) if event is not None)

    def _is_former(self, found: Any) -> bool:
        return isinstance(found, dict) and found.get("event") in self._former


def limited_reader(read: Read, limit: Bounds | OneOf) -> Read:
    """A reader of what keeps to a limit."""
    within = range(limit.low, limit.high + 1) if isinstance(limit, Bounds) else limit.words

    def read_limited(found: Any) -> Any:
        value = read(found)
        if value not in within:
            raise InvalidTrace("trace_out_of_range", found)
        return value

    return read_limited


def list_reader(read: Read) -> Read:
    """A reader of a list of any length."""

    def read_items(found: Any) -> tuple[Any, ...]:
        exact(list, found)
        made: list[Any] = []
        try:
            for item in found:
                made.append(read(item))
        except InvalidTrace as problem:
            raise problem.inside(f"[{len(made)}]") from None
        return tuple(made)

    return read_items


def row_reader(readers: Sequence[Read]) -> Read:
    """A reader of a list with one item for each of these readers."""

    def read_row(found: Any) -> tuple[Any, ...]:
        if len(exact(list, found)) != len(readers):
            raise InvalidTrace("trace_out_of_range", found)
        made: list[Any] = []
        try:
            for read, item in zip(readers, found):
                made.append(read(item))
        except InvalidTrace as problem:
            raise problem.inside(f"[{len(made)}]") from None
        return tuple(made)

    return read_row

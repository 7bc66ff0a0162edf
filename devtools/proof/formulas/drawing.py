"""Random typed expressions over nasty values, with a form of their own, and documents for them."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from random import Random
from typing import Any, Final, NamedTuple

UNITS: Final = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
OPTIONS: Final = {"o1": "Low", "o2": 'a "b" \\ c', "o3": "High", "o4": "é}"}

_TEXTS: Final = (
    *(
        "",
        " ",
        "a",
        "A",
        "á",
        "a\u0301",
        "\u0301",
        "ab",
        "a b",
        "b",
        "ß",
        "SS",
        "ﬁ",
        "İ",
        "ı",
        "Σ",
        "ς",
        "ΑΣ",
        "k",
    ),
    *(
        "\u00a0x\u2003",
        "\x1cx",
        "\x00",
        "a\x00b",
        "\n",
        '"',
        "\\",
        "}",
        "{cost}",
        "漢字",
        "각",
        "😀",
        "😀a",
        "\U0010ffff",
    ),
    *(
        "12",
        "-0.50",
        "1e3",
        "1E-140",
        "9e999",
        "007",
        "+1",
        "1.",
        " 5\t",
        "9" * 60,
        "0." + "3" * 50,
        "1e99999999999999",
    ),
    *(
        "2024-02-29",
        "2023-02-29",
        "0001-01-01",
        " 9999-12-31 ",
        "2024-2-9",
        "2024-02-29T00:00:00Z",
        "0000-01-01",
    ),
    *(
        "x" * 239 + "y",
        "x" * 240 + "a",
        "x" * 240 + "B",
        "x" * 1_024,
        "ΐ" * 400,
        "Forth Rail Bridge",
        "bridge",
    ),
)
_NUMBERS: Final = tuple(
    map(
        Decimal,
        (
            *(
                "0",
                "1",
                "2",
                "3",
                "7",
                "10",
                "12.5",
                "0.5",
                "1.5",
                "2.5",
                "0.1",
                "0.3",
                "99",
                "100",
                "1E+2",
                "1234567.891",
            ),
            *(
                "1E-130",
                "9.9E-130",
                "1E+125",
                "9.99E+125",
                "1E+38",
                "4503599627370496.5",
                "9999",
                "86400",
                "146097",
            ),
            *(
                "9" * 38,
                "1." + "1" * 37,
                "0." + "9" * 38,
                "3" * 37 + ".5",
                "12345678901234567890.123456789012345678",
            ),
        ),
    )
)
_DATES: Final = (
    *(
        "0001-01-01",
        "0001-12-31",
        "1582-10-10",
        "1900-02-28",
        "1969-12-31",
        "2000-02-29",
        "2023-01-31",
        "2023-05-01",
    ),
    *("2023-12-31", "2024-02-29", "2024-03-01", "2024-03-31", "9999-12-30", "9999-12-31"),
)
_TIMES: Final = (
    "00:00:00.000000",
    "00:00:00.000001",
    "12:34:56.789000",
    "23:59:59.999999",
    "12:00:00.000000",
)
_USERS: Final = ("ann", "ANN", "Émile", "émile", "ß", "SS", "x" * 256)


class Drawn(NamedTuple):
    """An expression. `kind`: field, literal, option, user, an operator, or a function; `value`: a key or a value."""

    kind: str
    type: str
    value: Any = None
    parts: tuple["Drawn", ...] = ()


class DrawnField(NamedTuple):
    """A field of the drawn project. `expression`: if it is computed."""

    key: str
    id: str
    name: str
    type: str
    builtin: bool = False
    expression: Drawn | None = None


STORED: Final = (
    DrawnField("name", "name", "Name", "text", builtin=True),
    DrawnField("state", "state", "State", "enum", builtin=True),
    DrawnField("created", "created", "Created", "datetime", builtin=True),
    DrawnField("updated_by", "updated_by", "Updated by", "user", builtin=True),
    DrawnField("num", "num", "Number", "number", builtin=True),
    DrawnField("a1", "cost", "Cost", "number"),
    DrawnField("a2", "qty", "Cost", "number"),
    DrawnField("a3", "far", "name", "number"),
    DrawnField("a4", "note", "A } note \\", "text"),
    DrawnField("a5", "code", "Code", "text"),
    DrawnField("a6", "start", "Start", "date"),
    DrawnField("a7", "end", "End", "date"),
    DrawnField("a8", "moment", "Moment", "datetime"),
    DrawnField("a9", "done", "Done", "bool"),
    DrawnField("a10", "level", "Level", "enum"),
    DrawnField("a11", "labels", "Labels", "multi_enum"),
    DrawnField("a12", "owner", "Owner", "user"),
)


def document(random: Random) -> dict[str, Any]:
    """Return a document of the project, as the table returns it."""
    values: Mapping[str, Callable[[], Any]] = {
        "number": lambda: _stored_number(random),
        "text": lambda: random.choice(_TEXTS[1:]),
        "date": lambda: random.choice(_DATES),
        "datetime": lambda: f"{random.choice(_DATES)}T{random.choice(_TIMES)}Z",
        "bool": lambda: random.random() < 0.5,
        "enum": lambda: random.choice(list(OPTIONS)),
        "multi_enum": lambda: random.sample(list(OPTIONS), random.randint(1, 4)),
        "user": lambda: random.choice(_USERS),
    }
    builtins = {one.key: values[one.type]() for one in STORED if one.builtin}
    fields = {one.key: values[one.type]() for one in STORED if not one.builtin and random.random() < 0.75}
    return {**builtins, "num": random.randint(1, 99_999_999), "fields": fields}


def _stored_number(random: Random) -> int | Decimal:
    number = random.choice(_NUMBERS) * random.choice((1, -1))
    return int(number) if number == number.to_integral_value() and abs(number) < 10**18 else number


class Drawer:
    """Draws expressions over fields."""

    def __init__(self, random: Random, fields: tuple[DrawnField, ...]) -> None:
        self._random = random
        self._by_type: dict[str, list[DrawnField]] = {}
        for one in fields:
            self._by_type.setdefault(one.type, []).append(one)

    def expression(self, kind: str, depth: int) -> Drawn:
        """Return an expression of a type, or of one that fits it, at most so deep."""
        random = self._random
        if random.random() < 0.03:
            return Drawn("blank", "none")
        if depth <= 0 or random.random() < 0.2:
            return self._leaf(kind, depth)
        return random.choice(_MAKERS[kind])(self, kind, depth - 1)

    def _leaf(self, kind: str, depth: int) -> Drawn:
        random = self._random
        if kind == "datetime" and random.random() < 0.2:
            kind = "date"
        fields = self._by_type.get(kind, [])
        if fields and (random.random() < 0.65 or kind in ("date", "datetime")):
            return self.field(kind)
        match kind:
            case "number":
                return Drawn("literal", kind, random.choice(_NUMBERS))
            case "text":
                return Drawn("literal", kind, random.choice(_TEXTS))
            case "bool":
                return Drawn("literal", kind, random.random() < 0.5)
        raise AssertionError(kind, depth)

    def field(self, kind: str) -> Drawn:
        """Return a field of a type."""
        return Drawn("field", kind, self._random.choice(self._by_type[kind]).key)

    def _calls(self, name: str, result: str, *parts: Drawn) -> Drawn:
        return Drawn(name, result, None, parts)

    def _several(self, kind: str, depth: int, least: int = 1) -> tuple[Drawn, ...]:
        return tuple(self.expression(kind, depth) for _ in range(self._random.randint(least, 4)))

    # Any type

    def conditional(self, kind: str, depth: int) -> Drawn:
        """IF, SWITCH or COALESCE."""
        random = self._random
        match random.randint(0, 2):
            case 0:
                branches = [self.expression(kind, depth) for _ in range(random.randint(1, 2))]
                return self._shared("IF", [self.expression("bool", depth), *branches], branches)
            case 1:
                branches = list(self._several(kind, depth))
                return self._shared("COALESCE", branches, branches)
        subject, patterns = self.compared(depth, random.randint(1, 3))
        branches = [self.expression(kind, depth) for _ in patterns]
        pairs = [one for pair in zip(patterns, branches, strict=True) for one in pair]
        default = [self.expression(kind, depth)] if random.random() < 0.6 else []
        return self._shared("SWITCH", [subject, *pairs, *default], [*branches, *default])

    def _shared(self, name: str, parts: list[Drawn], branches: list[Drawn]) -> Drawn:
        return Drawn(name, shared(branches), None, tuple(parts))

    def compared(self, depth: int, count: int) -> tuple[Drawn, list[Drawn]]:
        """Return an expression and others that it can be equal to."""
        random = self._random
        kind = random.choice(("number", "text", "date", "datetime", "bool", "enum", "user"))
        if kind not in ("enum", "user"):
            # Equal parts are drawn often enough only if some are repeated.
            one = self.expression(kind, depth)
            return one, [one if random.random() < 0.2 else self.expression(kind, depth) for _ in range(count)]
        one = self.field(kind)
        others = []
        for _ in range(count):
            if random.random() < 0.1:
                others.append(Drawn("blank", "none"))
            elif kind == "enum":
                others.append(Drawn("option", kind, (one.value, random.choice(list(OPTIONS)))))
            else:
                named = Drawn("user", kind, random.choice(_USERS))
                others.append(named if random.random() < 0.6 else self.field(kind))
        return one, others

    # Numbers

    def _arithmetic(self, _: str, depth: int) -> Drawn:
        sign = self._random.choice("+-*/")
        return self._calls(sign, "number", self.expression("number", depth), self.expression("number", depth))

    def _of_one_number(self, _: str, depth: int) -> Drawn:
        name = self._random.choice(("NEG", "ABS", "INT", "SQRT", "ROUND", "ROUNDUP", "ROUNDDOWN"))
        return self._calls(name, "number", self.expression("number", depth))

    def _of_two_numbers(self, _: str, depth: int) -> Drawn:
        random = self._random
        name = random.choice(("MOD", "POWER", "ROUND", "ROUNDUP", "ROUNDDOWN"))
        second = (
            self.small(depth) if name != "MOD" or random.random() < 0.3 else self.expression("number", depth)
        )
        return self._calls(name, "number", self.expression("number", depth), second)

    def small(self, depth: int) -> Drawn:
        """Return a number, mostly a small one."""
        random = self._random
        if random.random() < 0.15:
            return self.expression("number", depth)
        literal = Drawn(
            "literal",
            "number",
            Decimal(random.choice(("0", "1", "2", "3", "5", "12", "31", "120", "2.7", "400"))),
        )
        return self._calls("NEG", "number", literal) if random.random() < 0.3 else literal

    def _aggregate(self, kind: str, depth: int) -> Drawn:
        names = ("SUM", "AVERAGE", "MIN", "MAX") if kind == "number" else ("MIN", "MAX")
        parts = self._several(kind, depth)
        name = self._random.choice(names)
        return Drawn(name, shared(parts) if name in ("MIN", "MAX") else "number", None, parts)

    def _number_of_text(self, _: str, depth: int) -> Drawn:
        random = self._random
        text = self.expression("text", depth)
        match random.randint(0, 3):
            case 0:
                return self._calls("LEN", "number", text)
            case 1:
                start = (self.small(depth),) if random.random() < 0.5 else ()
                return self._calls("FIND", "number", self.needle(depth), text, *start)
            case 2:
                return self._calls("VALUE", "number", self._number_text(depth))
        return self._calls("COUNT", "number", self.field("multi_enum"))

    def needle(self, depth: int) -> Drawn:
        """Return a text, mostly a short one."""
        random = self._random
        if random.random() < 0.3:
            return self.expression("text", depth)
        return Drawn(
            "literal",
            "text",
            random.choice(("", "a", "A", "b", "x", "é", " ", "Rail", "\x00", "0", "xx", "\u0301")),
        )

    def _number_text(self, depth: int) -> Drawn:
        random = self._random
        if random.random() < 0.3:
            return self.expression("text", depth)
        if random.random() < 0.3:
            return self._calls("TEXT", "text", self.expression("number", depth))
        return Drawn(
            "literal", "text", random.choice([one for one in _TEXTS if any(c.isdigit() for c in one)])
        )

    def _number_of_date(self, _: str, depth: int) -> Drawn:
        random = self._random
        if random.random() < 0.5:
            parts = (self.expression("datetime", depth), self.expression("datetime", depth), self._unit())
            return self._calls("DATETIME_DIFF", "number", *parts)
        offset = (self._offset(),) if random.random() < 0.4 else ()
        name = random.choice(("YEAR", "MONTH", "DAY", "WEEKDAY"))
        return self._calls(name, "number", self.expression("datetime", depth), *offset)

    def _unit(self) -> Drawn:
        random = self._random
        unit = random.choice(UNITS)
        return Drawn("literal", "word", random.choice((unit, f"{unit}s", unit.upper())))

    def _offset(self) -> Drawn:
        return Drawn(
            "literal",
            "word",
            self._random.choice(("+00:00", "+02:00", "-05:30", "+23:59", "-23:59", "-00:01")),
        )

    # Texts

    def _joined(self, _: str, depth: int) -> Drawn:
        random = self._random
        kinds = ("text", "text", "number", "date", "datetime", "bool")
        if random.random() < 0.5:
            return self._calls("&", "text", *(self.expression(random.choice(kinds), depth) for _ in range(2)))
        count = random.randint(1, 4)
        return self._calls(
            "CONCAT", "text", *(self.expression(random.choice(kinds), depth) for _ in range(count))
        )

    def _of_text(self, _: str, depth: int) -> Drawn:
        random = self._random
        text = self.expression("text", depth)
        match random.randint(0, 6):
            case 0:
                return self._calls(random.choice(("LEFT", "RIGHT")), "text", text, self.small(depth))
            case 1:
                return self._calls("MID", "text", text, self.small(depth), self.small(depth))
            case 2:
                return self._calls(
                    "SUBSTITUTE", "text", text, self.needle(depth), self.expression("text", depth)
                )
            case 3:
                kind = random.choice(("number", "date", "datetime", "bool", "text"))
                return self._calls("TEXT", "text", self.expression(kind, depth))
        return self._calls(random.choice(("LOWER", "UPPER", "TRIM")), "text", text)

    # Dates

    def _date(self, _: str, depth: int) -> Drawn:
        random = self._random
        match random.randint(0, 2):
            case 0:
                return self._calls("DATE", "date", self._year(depth), self.small(depth), self.small(depth))
            case 1:
                literal = Drawn("literal", "text", random.choice([one for one in _TEXTS if "-" in one]))
                return self._calls(
                    "DATE", "date", literal if random.random() < 0.7 else self.expression("text", depth)
                )
        moment = self.expression("datetime", depth)
        offset = (self._offset(),) if random.random() < 0.4 and moment.type != "none" else ()
        return self._calls("DATE", "date", moment, *offset)

    def _year(self, depth: int) -> Drawn:
        random = self._random
        if random.random() < 0.2:
            return self.expression("number", depth)
        return Drawn(
            "literal",
            "number",
            Decimal(random.choice(("0", "1", "1900", "2000", "2023", "2024.9", "9999", "10000"))),
        )

    def _later(self, kind: str, depth: int) -> Drawn:
        unit = self._unit()
        moment = self.expression(
            "date" if kind == "date" else self._random.choice(("date", "datetime")), depth
        )
        if kind == "date" and singular(unit.value) in UNITS[:3]:
            unit = Drawn("literal", "word", "days")
        result = "datetime" if singular(unit.value) in UNITS[:3] else moment.type
        return self._calls("DATEADD", result, moment, self.small(depth), unit)

    # Conditions

    def _comparison(self, _: str, depth: int) -> Drawn:
        random = self._random
        if random.random() < 0.5:
            one, (other,) = self.compared(depth, 1)
            parts = (one, other) if random.random() < 0.7 else (other, one)
            return self._calls(random.choice(("=", "!=")), "bool", *parts)
        kind = random.choice(("number", "text", "date", "datetime"))
        sign = random.choice(("<", "<=", ">", ">="))
        return self._calls(sign, "bool", self.expression(kind, depth), self.expression(kind, depth))

    def _logic(self, _: str, depth: int) -> Drawn:
        random = self._random
        if random.random() < 0.3:
            return self._calls("NOT", "bool", self.expression("bool", depth))
        return self._calls(random.choice(("AND", "OR")), "bool", *self._several("bool", depth))

    def _test(self, _: str, depth: int) -> Drawn:
        random = self._random
        match random.randint(0, 2):
            case 0:
                return self._calls("CONTAINS", "bool", self.expression("text", depth), self.needle(depth))
            case 1:
                option = Drawn("option", "enum", ("a11", random.choice(list(OPTIONS))))
                return self._calls("HAS", "bool", Drawn("field", "multi_enum", "a11"), option)
        kind = random.choice(("number", "text", "date", "datetime", "bool", "enum", "multi_enum", "user"))
        stored = kind in ("enum", "multi_enum", "user")
        return self._calls("ISBLANK", "bool", self.field(kind) if stored else self.expression(kind, depth))


_MAKERS: Final[Mapping[str, tuple[Callable[[Drawer, str, int], Drawn], ...]]] = {
    "number": (
        *(
            Drawer._arithmetic,
            Drawer._arithmetic,
            Drawer._of_one_number,
            Drawer._of_two_numbers,
            Drawer._aggregate,
        ),
        *(Drawer._number_of_text, Drawer._number_of_date, Drawer.conditional),
    ),
    "text": (Drawer._joined, Drawer._of_text, Drawer._of_text, Drawer.conditional),
    "date": (Drawer._date, Drawer._later, Drawer._aggregate, Drawer.conditional),
    "datetime": (Drawer._later, Drawer._aggregate, Drawer.conditional),
    "bool": (Drawer._comparison, Drawer._comparison, Drawer._logic, Drawer._test, Drawer.conditional),
}


def shared(parts: list[Drawn] | tuple[Drawn, ...]) -> str:
    """Return the type of parts that share one."""
    types = {one.type for one in parts} - {"none"}
    return "datetime" if len(types) > 1 else next(iter(types), "none")


def singular(unit: str) -> str:
    """Return a unit as it is stored."""
    return unit.lower().removesuffix("s")


_RANKS: Final = {"=": 1, "!=": 1, "<": 1, "<=": 1, ">": 1, ">=": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4}


def source(drawn: Drawn, fields: Mapping[str, DrawnField], random: Random) -> str:
    """Return the text of an expression, spelled as a person might: not always as it is printed."""
    return _Speller(fields, random).text(drawn, 0)


class _Speller:
    def __init__(self, fields: Mapping[str, DrawnField], random: Random) -> None:
        self._fields = fields
        self._random = random
        names = [one.name for one in fields.values()]
        ids = {one.id for one in fields.values()}
        self._plain = {name for name in names if names.count(name) == 1 and name not in ids}

    def text(self, drawn: Drawn, rank: int) -> str:
        random = self._random
        inner = self._spelled(drawn)
        binding = _RANKS.get(drawn.kind, 9)
        if binding < rank or random.random() < 0.03:
            return f"({inner})"
        return inner

    def _space(self) -> str:
        return self._random.choice(("", " ", " ", "\n"))

    def _spelled(self, drawn: Drawn) -> str:
        random = self._random
        match drawn.kind:
            case "field":
                field = self._fields[drawn.value]
                spelled = field.name if field.name in self._plain and random.random() < 0.5 else field.id
                return "{" + spelled.replace("\\", "\\\\").replace("}", "\\}") + "}"
            case "blank":
                return random.choice(("BLANK()", "blank", "Blank()"))
            case "option":
                return self._quoted(OPTIONS[drawn.value[1]])
            case "user":
                return self._quoted(drawn.value)
            case "literal" if isinstance(drawn.value, bool):
                return random.choice(("{}()", "{}")).format(str(drawn.value).upper())
            case "literal" if isinstance(drawn.value, str):
                return self._quoted(drawn.value)
            case "literal":
                return str(drawn.value) if random.random() < 0.3 else f"{drawn.value:f}"
            case "NEG":
                return "-" + self._space() + self.text(drawn.parts[0], 5)
        if drawn.kind in _RANKS:
            rank = _RANKS[drawn.kind]
            sign = "<>" if drawn.kind == "!=" and random.random() < 0.5 else drawn.kind
            left, right = self.text(drawn.parts[0], rank), self.text(drawn.parts[1], rank + 1)
            return f"{left}{self._space()}{sign}{self._space()}{right}"
        name = drawn.kind if random.random() < 0.7 else drawn.kind.lower()
        return (
            f"{name}({self._space()}{(',' + self._space()).join(self.text(one, 0) for one in drawn.parts)})"
        )

    def _quoted(self, text: str) -> str:
        quote = self._random.choice("'\"")
        escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
        if self._random.random() < 0.5:
            escaped = escaped.replace("\n", "\\n").replace("\t", "\\t")
        return f"{quote}{escaped}{quote}"

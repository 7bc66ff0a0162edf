"""Random projects and random questions about them, as a client of the API would put them. Nothing here knows the grid's code."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple

Json = dict[str, Any]

BUILTINS = {
    "num": "number",
    "name": "text",
    "state": "enum",
    "created": "datetime",
    "updated": "datetime",
    "created_by": "user",
    "updated_by": "user",
}
WRITERS = ("created_by", "updated_by")
TYPES = ("text", "number", "date", "datetime", "bool", "enum", "multi_enum", "user")

_ORDERED = ("eq", "ne", "in", "not_in", "lt", "lte", "gt", "gte", "between", "is_empty", "is_not_empty")
_OF_TYPE = {
    "text": (*_ORDERED, "starts_with", "contains", "has_words"),
    "multi_enum": (*_ORDERED, "has_any", "has_all", "has_none"),
}
ZONES = ("UTC", "Europe/London", "America/St_Johns", "Asia/Kolkata", "Pacific/Apia", "America/New_York")

_WORDS = (
    *(
        "rust",
        "Rust",
        "girder",
        "Träger",
        "trager",
        "Straße",
        "STRASSE",
        "paint",
        "42",
        "x",
        "naïve",
        "na\u0131ve",
    ),
    *(
        "ﬁne",
        "fine",
        "漆",
        "деталь",
        "ДЕТАЛЬ",
        "हिन्दी",
        "İzmir",
        "izmir",
        "a_b",
        "co-op",
        "Å",
        "A\u030a",
        "\U0001f309",
    ),
)
_LONG = "long " * 50
_LONG_WORD = "word" * 30
"""Longer than the kept part of a word."""
_NUMBERS = (
    *(
        "0",
        "1",
        "-1",
        "42",
        "1.5",
        "-1.5",
        "0.1",
        "0.2",
        "0.3",
        "100",
        "99.99",
        "1E+125",
        "-9.99E+125",
        "1E-130",
        "-1E-130",
    ),
    *(
        "12345678901234567890123456789012345678",
        "12345678901234567890123456789012345679",
        "0.00000000000000000000000001",
    ),
)
_DATES = ("0001-01-01", "9999-12-31", "2023-05-01", "2023-05-02", "2023-06-30", "2024-02-29", "1999-12-31")
_INSTANTS = (
    *(
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999Z",
        "2023-05-01T00:00:00Z",
        "2023-03-26T00:59:59.5Z",
    ),
    *(
        "2023-04-30T23:30:00-05:00",
        "2023-05-01T05:30:00+05:30",
        "2023-12-31T23:59:59Z",
        "2024-02-29T12:00:00.000001Z",
    ),
)
_USERS = ("ann", "Ann", "bob", "BOB@example.org", "élan", "Élan", "zoë", "user-0001")
_REFUSED = 0.02
"""Questions that may sort by a field without an index."""
_COMPOSITE = 0.3
"""Questions that sort as a composite index does, in projects that have some."""
_ORDERS = (0, 0, 1, 1, 2)
"""Numbers of manual orders that a project may have."""
_MANUAL = 0.27
"""Questions that sort by a manual order, in projects that have some: one of ten questions in all."""
_UNINDEXED = 0.1
"""Attributes that get no index, and fields of writers that lose theirs."""
_SIZE = 100
"""Issues of most projects; what asks for pages of larger ones asks for larger pages."""
_OPTIONS = ("high", "Low", "medium", "~", "blocked", "0", "Ünusual")


class Stamps(NamedTuple):
    """When an issue was created and updated, and by whom."""

    created: str
    updated: str
    created_by: str
    updated_by: str


def stamps_of(shown: Mapping[str, Any]) -> Stamps:
    """The stamps of an issue as the API returns it."""
    return Stamps(*(shown[name] for name in Stamps._fields))


@dataclass
class Project:
    """A project as the API gets it: its states, its attributes and the bodies of its issues, by number."""

    states: list[str]
    attributes: list[Json]
    issues: dict[int, Json]
    stamps: dict[int, Stamps] = field(default_factory=dict)
    composites: list[list[Json]] = field(default_factory=list)
    """The sorts of its composite indexes."""
    switched_off: list[str] = field(default_factory=list)
    """The built-in fields whose index is off."""
    orders: list[str] = field(default_factory=list)
    """The views that have a manual order. If a row was placed, the body of its issue has `placed`: view -> key."""
    limits: str = "real"
    """By which limits its blocks are cut, and what may be read for an answer: a name in `limits.LIMITS`."""

    @property
    def types(self) -> dict[str, str]:
        """Field -> type."""
        return {**BUILTINS, **{one["id"]: one["type"] for one in self.attributes}}

    @property
    def options(self) -> dict[str, list[str]]:
        """Field -> its options in order."""
        chosen = {one["id"]: one["options"] for one in self.attributes if "options" in one}
        return {"state": self.states, **chosen}

    @property
    def unindexed(self) -> frozenset[str]:
        """The fields that have no index."""
        attributes = (one["id"] for one in self.attributes if not one.get("indexed", True))
        return frozenset((*attributes, *self.switched_off))

    @property
    def searched(self) -> frozenset[str]:
        """The texts of which words can be found."""
        return frozenset(("name", *(one["id"] for one in self.attributes if one.get("search"))))

    def value(self, num: int, name: str) -> Any:
        """The value of a field as it was sent; None: without."""
        issue = self.issues[num]
        given: Mapping[str, Any] = {
            "num": num,
            "name": issue["name"],
            "state": issue.get("state", self.states[0]),
            **self.stamps[num]._asdict(),
        }
        found = given[name] if name in given else issue["fields"].get(name)
        return None if found in ("", []) else found

    def placed(self, num: int, order: str) -> str | None:
        """The key of a row in a manual order, as it was answered when it was placed; None: it never was."""
        key: str | None = self.issues[num].get("placed", {}).get(order)
        return key


def make(
    random: Random, limits: Sequence[str] = ("real",), sizes: Sequence[int] = (0, 1, 20, 60, 60, 110)
) -> Project:
    """A project with an attribute or two of most types, many ties and gaps, and values at the borders.

    `limits` are the names of the limits to choose from, `sizes` the numbers of issues to choose from.
    """
    attributes: list[Json] = []
    for kind in TYPES:
        for at in range(random.choice((1, 1, 2))):
            one: Json = {"id": f"{kind}{at}", "name": kind, "type": kind}
            if kind.endswith("enum"):
                one["options"] = random.sample(_OPTIONS, random.randint(2, len(_OPTIONS)))
            if random.random() < _UNINDEXED:
                one["indexed"] = False
            elif kind == "text" and random.random() < 0.5:
                one["search"] = True
            attributes.append(one)
    project = Project(
        random.sample(["open", "closed", "Waiting", "done"], random.randint(2, 4)), attributes, {}
    )
    project.limits = random.choice(limits)
    project.switched_off = [name for name in WRITERS if random.random() < _UNINDEXED]
    project.composites = _composites(random, project)
    density = {one["id"]: random.choice((0.1, 0.5, 0.9, 1.0)) for one in attributes}
    last = random.choice((0, 0, 0, 65_500, 900_000))
    for _ in range(random.choice(sizes)):
        last += random.choice((1, 1, 1, 2, 5))
        fields = {
            one["id"]: value(random, one["type"], one.get("options", ()))
            for one in attributes
            if random.random() < density[one["id"]]
        }
        project.issues[last] = {
            "name": value(random, "text", ()),
            "state": random.choice(project.states),
            "fields": fields,
        }
        project.stamps[last] = Stamps(
            *(value(random, kind, ()) for kind in ("datetime", "datetime", "user", "user"))
        )
    project.orders = [f"v{at + 1}" for at in range(apart(random).choice(_ORDERS))]
    return project


def apart(random: Random) -> Random:
    """Random choices of their own, which leave the other ones as they are."""
    return Random(copy(random).random())  # noqa: S311  (the same ones each time)


def _composites(random: Random, project: Project) -> list[list[Json]]:
    """Composite indexes of two or three fields, no two with a field in common."""
    fields = sorted(project.types.keys() - {"num"})
    chosen = random.sample(fields, random.choice((0, 0, 3, 6)))
    return [
        [_key(random, name) for name in chosen[at : at + random.choice((2, 3))]]
        for at in range(0, len(chosen), 3)
    ]


def _key(random: Random, name: str) -> Json:
    return {
        "field": name,
        "direction": random.choice(("asc", "desc")),
        "nulls": random.choice(("first", "last")),
    }


def reversed_sort(sort: Sequence[Json]) -> list[Json]:
    """The same order from its end."""
    return [
        {
            "field": key["field"],
            "direction": "asc" if key["direction"] == "desc" else "desc",
            "nulls": "last" if key["nulls"] == "first" else "first",
        }
        for key in sort
    ]


def value(random: Random, kind: str, options: Sequence[str]) -> Any:
    """A random value of a type, one that other issues likely have too."""
    match kind:
        case "text":
            prefix = random.choice((_LONG, _LONG_WORD)) if random.random() < 0.12 else ""
            return prefix + random.choice((" ", "-", ", ")).join(
                random.choices(_WORDS, k=random.randint(1, 3))
            )
        case "number":
            return random.choice((*_NUMBERS, random.randint(-3, 3), str(random.randint(0, 999) / 4)))
        case "date":
            return random.choice((*_DATES, f"2023-{random.randint(1, 12):02d}-{random.randint(1, 28):02d}"))
        case "datetime":
            drawn = f"2023-{random.randint(1, 12):02d}-{random.randint(1, 28):02d}T{random.randint(0, 23):02d}:30:00Z"
            return random.choice((*_INSTANTS, drawn))
        case "bool":
            return random.random() < 0.5
        case "user":
            return random.choice(_USERS)
        case "enum":
            return random.choice(options)
    return random.sample(options, random.randint(1, min(3, len(options))))


@dataclass(frozen=True)
class Question:
    """One question: `body` is the request's. `kind`: a walk both ways, a page at an offset, groups, the position of an issue,
    a summary of fields.
    """

    kind: str
    body: Json
    num: int = 0


def question(random: Random, project: Project) -> Question:
    """A random question."""
    body: Json = {}
    by_hand = apart(random)
    kind = random.choice(("walk", "walk", "offset", "groups", "row_number", "summary"))
    if random.random() < (0.8 if kind in ("walk", "row_number") else 0.6):
        body["filter"] = _filter(random, project, random.randint(0, 4))
    if kind == "groups":
        body["by"] = [_by(random, project) for _ in range(random.choice((1, 1, 2, 3)))]
        body["limit"] = random.choice((1, 5, 500))
        numbers = [name for name, type_ in project.types.items() if type_ == "number"]
        body["aggregates"] = [
            {"field": random.choice(numbers), "function": random.choice((*_FUNCTIONS, *_OF_NUMBERS))}
            for _ in range(random.randint(0, 3))
        ]
        ranked = [at for at, one in enumerate(body["aggregates"]) if one["function"] not in _NEVER_RANKED]
        if random.random() < 0.4:
            direction = random.choice(("asc", "desc"))
            body["order"] = {"by": random.choice(("count", *ranked)), "direction": direction}
        return Question(kind, body)
    if kind == "summary":
        body["fields"] = _fields(random, project)
        return Question(kind, body)
    body["sort"] = _sort(random, project)
    if project.orders and by_hand.random() < _MANUAL:
        body["sort"] = [{"manual": by_hand.choice(project.orders)}]
    if kind == "row_number":
        return Question(kind, body, random.randint(1, max(project.issues, default=1) + 1))
    body["limit"] = random.choice((4, 7, 30, 100)) if kind == "walk" else random.choice((1, 3, 25))
    if kind == "walk":
        body["limit"] = min(500, body["limit"] * max(1, 2 * len(project.issues) // _SIZE - 2))
    body["count"] = random.random() < 0.5
    if random.random() < 0.2:
        body["columns"] = random.sample(list(project.types), random.randint(0, 3))
    if kind == "offset":
        body["offset"] = random.randint(0, len(project.issues) + 3)
    return Question(kind, body)


def _sort(random: Random, project: Project) -> list[Json]:
    if project.composites and random.random() < _COMPOSITE:
        sort = random.choice(project.composites)
        return list(sort) if random.random() < 0.5 else reversed_sort(sort)
    names = set(project.types)
    if random.random() >= _REFUSED:
        names -= project.unindexed
    sortable = sorted(names)
    return [_key(random, random.choice(sortable)) for _ in range(random.choice((0, 1, 1, 2, 3)))]


def _by(random: Random, project: Project) -> Any:
    name, kind = random.choice(list(project.types.items()))
    if kind == "number" and random.random() < 0.6:
        return {"field": name, **_ranges(random)}
    if kind not in ("date", "datetime") or random.random() < 0.2:
        return random.choice((name, {"field": name}))
    by: Json = {"field": name, "unit": random.choice(("day", "month", "year"))}
    if kind == "datetime" and random.random() < 0.7:
        by["timezone"] = random.choice(ZONES)
    return by


def _ranges(random: Random) -> Json:
    """Ranges of numbers, by bounds or by a width."""
    if random.random() < 0.5:
        drawn = (str(value(random, "number", ())) for _ in range(random.choice((1, 2, 5, 40))))
        bounds = {Decimal(one): one for one in drawn}
        return {"bins": [bounds[one] for one in sorted(bounds)]}
    return {"width": random.choice(("1", "0.5", "7", "100", "1E+120", "3E-30"))}


_FUNCTIONS = ("count", "empty", "distinct", "min", "max")
_OF_NUMBERS = ("median", "sum", "avg")
_NEVER_RANKED = ("median", "distinct")


def _fields(random: Random, project: Project) -> list[Json]:
    """Some fields, and some functions of each; seldom one without an index, which takes documents."""
    names = random.sample(sorted(project.types), random.choice((1, 1, 2, 5)))
    indexed = [name for name in names if name not in project.unindexed] or ["num"]
    chosen = names if random.random() < _REFUSED else indexed
    functions = {
        name: (*_FUNCTIONS, *_OF_NUMBERS) if project.types[name] == "number" else _FUNCTIONS
        for name in chosen
    }
    return [
        {"field": name, "functions": random.sample(some, random.randint(1, len(some)))}
        for name, some in functions.items()
    ]


def _filter(random: Random, project: Project, depth: int) -> Json:
    if depth == 0 or random.random() < 0.3:
        return _condition(random, project)
    kind = random.choice(("and", "or", "not"))
    if kind == "not":
        return {"not": _filter(random, project, depth - 1)}
    return {kind: [_filter(random, project, depth - 1) for _ in range(random.randint(1, 3))]}


def _condition(random: Random, project: Project) -> Json:
    name, kind = random.choice(list(project.types.items()))
    operator = random.choice(_OF_TYPE.get(kind, _ORDERED))
    condition: Json = {"field": name, "op": operator}
    options = project.options.get(name, ())
    drawn = _operands(random, project, name, kind)
    match operator:
        case "is_empty" | "is_not_empty":
            return condition
        case "in" | "not_in":
            condition["value"] = [next(drawn) for _ in range(random.randint(1, 4))]
        case "between":
            condition["value"] = [next(drawn), next(drawn)]
        case "starts_with":
            text = next(drawn)
            condition["value"] = text[: random.randint(1, len(text))]
        case "contains":
            text = next(drawn)
            start = random.randrange(len(text))
            condition["value"] = text[start : start + random.randint(1, 8)]
        case "has_words":
            asked = [*(word for word in _WORDS if word != "\U0001f309"), _LONG_WORD, _LONG_WORD + "rust"]
            condition["value"] = " ".join(random.choices(asked, k=random.randint(1, 2)))
        case "has_any" | "has_all" | "has_none":
            condition["value"] = random.sample(options, random.randint(1, min(3, len(options))))
        case _:
            condition["value"] = next(drawn)
    return condition


def _operands(random: Random, project: Project, name: str, kind: str) -> Iterator[Any]:
    """Values to compare with: values of issues, and others."""
    held = [found for num in project.issues if (found := project.value(num, name)) is not None]
    while True:
        if held and random.random() < 0.7:
            yield random.choice(held)
        else:
            yield value(random, kind, project.options.get(name, ()))

"""The oracle: the same issues in SQLite, and every question put as SQL over normal forms that are made here and
nowhere else.

Each value has two stored forms: `o_` compares as the order of the field does, `e_` is equal exactly for equal values.
"""

import json
import sqlite3
import string
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from devtools.proof.oracle.world import Json, Project

_TEXT_CHARACTERS = 240
_SCALE = 10**170
_ABOVE_ZERO = 10**128
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE_DAYS = 146_097
"""Days of 400 years, after which the calendar repeats itself."""
_DIGITS = 38
_BASE_62 = string.digits + string.ascii_uppercase + string.ascii_lowercase

_LENGTHS = {"day": 10, "month": 7, "year": 4}
"""Characters of a date that a unit has."""

Sql = tuple[str, list[Any]]
Unknown = Callable[[Json], bool]
"""Whether it is unknown which issues pass a condition."""

_OPPOSITE = {"": "", "0": "1", "1": "0"}


def folded(text: str) -> str:
    """Case and accents away."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()


def words(text: str) -> set[str]:
    """Runs of letters, marks and digits of the folded text."""
    runs = groupby(folded(text), lambda c: unicodedata.category(c)[0] in ("L", "M", "N"))
    return {"".join(run) for is_word, run in runs if is_word}


def micros(text: str) -> int:
    """Microseconds since 1970."""
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)


def fixed_point(number: Any) -> str:
    """A number as digits of a fixed width, whose order is that of the numbers."""
    scaled = (Fraction(Decimal(str(number))) + _ABOVE_ZERO) * _SCALE
    return f"{int(scaled):0300d}"


def local_period(instant: int, zone: str, unit: str) -> str:
    """The local year, month or day of an instant (in microseconds)."""
    # In the middle of the calendar, where a zone's offset leads to no end of it; the rules there are the same.
    days = instant // 86_400_000_000
    shift = _CYCLE_DAYS if days < -719_000 else -_CYCLE_DAYS if days > 2_932_000 else 0
    moment = _EPOCH + timedelta(days=shift, microseconds=instant)
    local = moment.astimezone(ZoneInfo(zone))
    year = local.year - (400 if shift > 0 else -400 if shift < 0 else 0)
    return {
        "year": f"{year:04d}",
        "month": f"{year:04d}-{local.month:02d}",
        "day": f"{year:04d}-{local.month:02d}-{local.day:02d}",
    }[unit]


def manual_order_of(body: Mapping[str, Any]) -> str | None:
    """The view by whose manual order a request sorts; None: it sorts otherwise."""
    sort = body.get("sort")
    manual: str | None = sort[0].get("manual") if sort else None
    return manual


def row_key(project: Project, num: int, order: str) -> str:
    """The key of a row in a manual order: the one that was answered, or that of its number if it was never placed."""
    return project.placed(num, order) or never_placed(num)


def never_placed(num: int) -> str:
    """The key of a row that was never placed: a fraction of five digits in base 62, without the zeros at its end."""
    fraction, digits = Fraction(num * 9, 62**5), ""
    while fraction:
        fraction *= 62
        digits += _BASE_62[int(fraction)]
        fraction -= int(fraction)
    return f"1{digits}\x01{num:08d}"


def number_range(number: str, ranges: str) -> str:
    """The range of a number among `bins` or those of a `width` (JSON): where it begins and ends, as decimals or nothing."""
    exact, asked = Fraction(Decimal(number)), json.loads(ranges)
    if "width" in asked:
        width = Fraction(Decimal(asked["width"]))
        begin = exact // width * width
        return f"{_decimal(begin)} {_decimal(begin + width)}"
    bounds = asked["bins"]
    begins = [one for one in bounds if Fraction(Decimal(one)) <= exact]
    ends = [one for one in bounds if Fraction(Decimal(one)) > exact]
    return f"{begins[-1] if begins else ''} {ends[0] if ends else ''}"


def range_place(number: str | None, ranges: str) -> str | None:
    """The place of a number's range among all ranges."""
    if number is None:
        return None
    begin, _ = number_range(number, ranges).split(" ")
    return fixed_point(begin) if begin else ""


class _Aggregate:
    """Exact aggregates of decimal texts, for SQLite."""

    def __init__(self, finish: Any) -> None:
        self._numbers: list[Decimal] = []
        self._finish = finish

    def step(self, text: str | None) -> None:
        """One more value."""
        if text is not None:
            self._numbers.append(Decimal(text))

    def finalize(self) -> str | None:
        """The aggregate."""
        return str(self._finish(self._numbers)) if self._numbers else None


def _sum(numbers: Iterable[Decimal]) -> str:
    return _decimal(sum(map(Fraction, numbers), Fraction(0)))


def _avg(numbers: list[Decimal]) -> str:
    return _rounded(sum(map(Fraction, numbers), Fraction(0)) / len(numbers))


def _median(numbers: list[Decimal]) -> str:
    exact = sorted(map(Fraction, numbers))
    low, high = exact[(len(exact) - 1) // 2], exact[len(exact) // 2]
    return _rounded((low + high) / 2) if low != high else _decimal(low)


def _rounded(mean: Fraction) -> str:
    """A number to as many digits as a number may have."""
    if not mean:
        return "0"
    exponent = len(str(abs(mean.numerator))) - len(str(mean.denominator))
    if abs(mean) < Fraction(10) ** exponent:
        exponent -= 1
    places = exponent - _DIGITS + 1
    return f"{round(mean / Fraction(10) ** places)}E{places}"


def _decimal(exact: Fraction) -> str:
    places = 170  # more than the smallest number has
    return f"{int(exact * 10**places)}E-{places}"


_EXACT = {"sum": _sum, "avg": _avg, "median": _median, "min": min, "max": max}


def _ranges(by: Mapping[str, Any]) -> str:
    """The ranges of numbers that a field is grouped by, as JSON; nothing without any."""
    return json.dumps({name: by[name] for name in ("bins", "width") if name in by}) if len(by) > 1 else ""


def _in_order(groups: list[Json], order: Mapping[str, Any]) -> list[Json]:
    """Groups by their counts or by an aggregate: without one last, equal ones as they were."""
    by, sign = order["by"], -1 if order["direction"] == "desc" else 1
    values = [one["count"] if by == "count" else one["aggregates"][by] for one in groups]
    ranked = [(value is None, sign * Fraction(Decimal(value or 0)), at) for at, value in enumerate(values)]
    return [groups[at] for *_, at in sorted(ranked)]


def _aggregate(name: str, function: str) -> str:
    """The SQL of a function of a field's numbers."""
    counts = {
        "count": f'count("v_{name}")',
        "empty": f'count(*) - count("v_{name}")',
        "distinct": f'count(DISTINCT "e_{name}")',
    }
    return counts.get(function) or f'exact_{function}("v_{name}")'


class Oracle:
    """A project in SQLite."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._types = project.types
        self._db = sqlite3.connect(":memory:")
        self._db.create_function("local_period", 3, local_period, deterministic=True)
        self._db.create_function("number_range", 2, number_range, deterministic=True)
        self._db.create_function("range_place", 2, range_place, deterministic=True)
        for name, finish in _EXACT.items():
            self._db.create_aggregate(
                f"exact_{name}",
                1,
                lambda finish=finish: _Aggregate(finish),  # type: ignore[arg-type, misc]
            )
        columns = [f'"o_{name}", "e_{name}", "v_{name}"' for name in self._types]
        columns += [f'"m_{order}"' for order in project.orders]
        self._db.execute(f"CREATE TABLE issue (n INTEGER PRIMARY KEY, {', '.join(columns)})")
        self._db.execute("CREATE TABLE chosen (n, field, place, value)")
        self._db.execute("CREATE TABLE word (n, field, word)")
        self._db.execute("CREATE INDEX chosen_of ON chosen (n, field)")
        self._db.execute("CREATE INDEX word_of ON word (n, field)")
        for num in project.issues:
            self._add(num)

    def _add(self, num: int) -> None:
        row: list[Any] = [num]
        for name, kind in self._types.items():
            given = self._project.value(num, name)
            row += (
                (None, None, None) if given is None else (*self._forms(name, given), self._shown(kind, given))
            )
            if given is not None and kind == "multi_enum":
                options = self._project.options[name]
                self._db.executemany(
                    "INSERT INTO chosen VALUES (?, ?, ?, ?)",
                    [(num, name, options.index(one), one) for one in given],
                )
            if given is not None and kind == "text":
                self._db.executemany(
                    "INSERT INTO word VALUES (?, ?, ?)", [(num, name, word) for word in words(given)]
                )
        row += [row_key(self._project, num, order) for order in self._project.orders]
        self._db.execute(f"INSERT INTO issue VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608

    def _forms(self, name: str, given: Any) -> tuple[Any, Any]:
        """The form that is ordered by, and the one that is equal for equal values."""
        match self._types[name]:
            case "text":
                return folded(given)[:_TEXT_CHARACTERS], folded(given)
            case "number":
                form: Any = fixed_point(given)
            case "datetime":
                form = micros(given)
            case "bool":
                form = int(given)
            case "enum":
                form = self._project.options[name].index(given)
            case "multi_enum":
                places = sorted(map(self._project.options[name].index, given))
                form = ",".join(f"{place:03d}" for place in places)
            case "user":
                form = given.casefold()
            case _:
                form = given
        return form, form

    @staticmethod
    def _shown(kind: str, given: Any) -> Any:
        if kind == "number":
            return str(given)
        return None if kind == "multi_enum" else micros(given) if kind == "datetime" else given

    # Questions

    def rows(self, body: Mapping[str, Any]) -> list[int]:
        """The numbers of the issues that pass, in order."""
        where, values = self._where(body)
        manual = manual_order_of(body)
        order = self._order(body) if manual is None else f'"m_{manual}", n'
        query = f"SELECT n FROM issue WHERE {where} ORDER BY {order}"  # noqa: S608  (of names that are made here)
        return [num for (num,) in self._db.execute(query, values)]

    @staticmethod
    def _order(body: Mapping[str, Any]) -> str:
        keys = []
        sort = body.get("sort") or [{"field": "num", "direction": "asc", "nulls": "last"}]
        for key in sort:
            nulls = "DESC" if key["nulls"] == "first" else "ASC"
            keys.append(f'"o_{key["field"]}" IS NULL {nulls}, "o_{key["field"]}" {key["direction"]}')
        return ", ".join([*keys, f"n {sort[-1]['direction']}"])

    def keys(self, order: str) -> dict[int, str]:
        """The keys of all rows in a manual order, by number."""
        return dict(self._db.execute(f'SELECT n, "m_{order}" FROM issue'))  # noqa: S608

    def groups(self, body: Mapping[str, Any]) -> list[Json]:
        """All groups in order: their values, counts and aggregates."""
        where, values = self._where(body)
        joins, orders, equals, shown = "", [], [], []
        parameters: list[Any] = []
        for at, one in enumerate(body["by"]):
            by = {"field": one} if isinstance(one, str) else one
            name = by["field"]
            if self._types[name] == "multi_enum":
                joins += f" LEFT JOIN chosen c{at} ON c{at}.n = issue.n AND c{at}.field = ?"
                parameters.append(name)
                orders.append(f"c{at}.place")
                equals.append(f"c{at}.place")
                shown.append(f"c{at}.value")
            elif "unit" in by:
                period = f'"o_{name}"'
                if self._types[name] == "date":
                    period = f"substr({period}, 1, {_LENGTHS[by['unit']]})"
                else:
                    period = f"""CASE WHEN {period} IS NULL THEN NULL
                        ELSE local_period({period}, '{by.get("timezone", "UTC")}', '{by["unit"]}') END"""
                orders.append(
                    f"CASE WHEN {period} IS NULL THEN NULL ELSE substr('00000000000' || {period}, -11) END"
                )
                equals.append(period)
                shown.append(period)
            elif ranges := _ranges(by):
                of_range = f"""CASE WHEN "v_{name}" IS NULL THEN NULL
                    ELSE number_range("v_{name}", '{ranges}') END"""
                orders.append(f"range_place(\"v_{name}\", '{ranges}')")
                equals.append(of_range)
                shown.append(of_range)
            else:
                orders += [f'"o_{name}"', f'"e_{name}"']
                equals.append(f'"e_{name}"')
                shown.append(f'"v_{name}"')
        aggregates = [_aggregate(one["field"], one["function"]) for one in body["aggregates"]]
        selected = ", ".join(["min(issue.n)", "count(*)", *shown, *aggregates])
        order = ", ".join(f"{one} IS NULL, {one}" for one in orders)
        found = self._db.execute(
            f"SELECT {selected} FROM issue{joins} WHERE {where} GROUP BY {', '.join(equals)} ORDER BY {order}",  # noqa: S608
            [*parameters, *values],
        )
        width = len(shown)
        groups: list[Json] = [
            {"count": count, "values": list(rest[:width]), "aggregates": list(rest[width:])}
            for _, count, *rest in found
        ]
        return groups if "order" not in body else _in_order(groups, body["order"])

    def summary(self, body: Mapping[str, Any]) -> Json:
        """How many issues pass, and the functions of their fields."""
        where, values = self._where(body)
        return {
            "matched": self._number(f"SELECT count(*) FROM issue WHERE {where}", values),  # noqa: S608
            "summaries": [
                {
                    function: self._function(one["field"], function, where, values)
                    for function in one["functions"]
                }
                for one in body["fields"]
            ],
        }

    def _function(self, name: str, function: str, where: str, values: list[Any]) -> Any:
        """One function of the values of a field.

        For the least and the greatest it is the number of the issue that has it.
        """
        selected = {
            "count": f'count("e_{name}")',
            "empty": f'count(*) - count("e_{name}")',
            "distinct": f'count(DISTINCT "e_{name}")',
            **{one: _aggregate(name, one) for one in ("sum", "avg", "median")},
        }
        source = "issue"
        if function == "distinct" and self._types[name] == "multi_enum":
            source = "issue LEFT JOIN chosen ON chosen.n = issue.n AND chosen.field = ?"
            values = [name, *values]
            selected["distinct"] = "count(DISTINCT chosen.place)"
        if function in selected:
            query = f"SELECT {selected[function]} FROM {source} WHERE {where}"  # noqa: S608
        else:
            way = "ASC" if function == "min" else "DESC"
            query = f"""SELECT n FROM issue WHERE {where} AND "e_{name}" IS NOT NULL
                ORDER BY "o_{name}" {way}, "e_{name}" {way}, n {way} LIMIT 1"""  # noqa: S608
        return next((found for (found,) in self._db.execute(query, values)), None)

    def undecided(self, body: Mapping[str, Any], unknown: Unknown) -> int:
        """How many issues pass or not, depending on the conditions that are `unknown`."""
        may, values = self._where(body, unknown, "1")
        does, more = self._where(body, unknown, "0")
        return self._number(f"SELECT count(*) FROM issue WHERE {may} AND NOT {does}", [*values, *more])  # noqa: S608

    def possible(self, body: Mapping[str, Any], unknown: Unknown) -> int:
        """How many issues may pass, depending on them."""
        may, values = self._where(body, unknown, "1")
        return self._number(f"SELECT count(*) FROM issue WHERE {may}", values)  # noqa: S608

    def ties(self, body: Mapping[str, Any], name: str, unknown: Unknown) -> int:
        """How many issues that may pass have the same in the order of a field, at most."""
        may, values = self._where(body, unknown, "1")
        groups = f'SELECT count(*) AS size FROM issue WHERE {may} GROUP BY "o_{name}"'  # noqa: S608
        return self._number(f"SELECT coalesce(max(size), 0) FROM ({groups})", values)  # noqa: S608

    def _number(self, query: str, values: list[Any]) -> int:
        ((found,),) = self._db.execute(query, values)
        return int(found)

    def _where(self, body: Mapping[str, Any], unknown: Unknown = lambda _: False, taken_for: str = "") -> Sql:
        found = body.get("filter")
        return ("1", []) if found is None else self._sql(found, unknown, taken_for)

    def _sql(self, node: Json, unknown: Unknown = lambda _: False, taken_for: str = "") -> Sql:
        """The SQL of a filter. An unknown condition counts as one that lets most issues pass ("1"), or fewest ("0")."""
        if "not" in node:
            inner, values = self._sql(node["not"], unknown, _OPPOSITE[taken_for])
            return f"(NOT {inner})", values
        for kind in ("and", "or"):
            if kind in node:
                parts = [self._sql(part, unknown, taken_for) for part in node[kind]]
                return (
                    "(" + f" {kind} ".join(sql for sql, _ in parts) + ")",
                    [value for _, values in parts for value in values],
                )
        if unknown(node):
            return taken_for, []
        name, operator = node["field"], node["op"]
        if operator == "is_empty":
            return f'("e_{name}" IS NULL)', []
        if operator == "is_not_empty":
            return f'("e_{name}" IS NOT NULL)', []
        sql, values = self._comparison(name, operator, node["value"])
        # Without a value, SQL has no answer; the contract has one.
        without = 1 if operator in ("ne", "not_in", "has_none") else 0
        return f'(CASE WHEN "e_{name}" IS NULL THEN {without} ELSE {sql} END)', values

    def _comparison(self, name: str, operator: str, given: Any) -> Sql:
        ordered, equal = f'"o_{name}"', f'"e_{name}"'
        simple = {"eq": "=", "ne": "<>", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
        match operator:
            case "eq" | "ne":
                return f"{equal} {simple[operator]} ?", [self._forms(name, given)[1]]
            case "lt" | "lte" | "gt" | "gte":
                return f"{ordered} {simple[operator]} ?", [self._forms(name, given)[0]]
            case "between":
                return f"{ordered} BETWEEN ? AND ?", [self._forms(name, one)[0] for one in given]
            case "in" | "not_in":
                marks = ", ".join("?" * len(given))
                negation = "NOT " if operator == "not_in" else ""
                return f"{equal} {negation}IN ({marks})", [self._forms(name, one)[1] for one in given]
            case "starts_with":
                return f"substr({equal}, 1, length(?)) = ?", [folded(given)] * 2
            case "contains":
                return f"instr({equal}, ?) > 0", [folded(given)]
            case "has_words":
                wanted = sorted(words(given))
                has = "EXISTS (SELECT 1 FROM word w WHERE w.n = issue.n AND w.field = ? AND w.word = ?)"
                return " AND ".join([has] * len(wanted)), [part for word in wanted for part in (name, word)]
        has = "EXISTS (SELECT 1 FROM chosen c WHERE c.n = issue.n AND c.field = ? AND c.value = ?)"
        parts = [part for one in given for part in (name, one)]
        joined = (" AND " if operator == "has_all" else " OR ").join([has] * len(given))
        return (f"NOT ({joined})" if operator == "has_none" else f"({joined})"), parts

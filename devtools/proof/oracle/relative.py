"""Questions with relative operands: each must have the answer of the filter with fixed values, as a calendar of its own gives.

The clock moves between the requests of a question, often over midnight in some time zone. All pages of a walk are of its
first instant, so SQLite answers the question once. The same question with fixed values comes next. The grid must answer
both alike, by the same plans and in as many rounds.

The calendar counts days by arithmetic, and finds the first instant of a day by looks at each minute.
"""

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from devtools.proof.faults.memory_table import MemoryTable
from devtools.proof.oracle import compare, loading, orders, world
from devtools.proof.oracle.compare import Asked
from devtools.proof.oracle.limits import LIMITS
from devtools.proof.oracle.loading import Difference, Loaded
from devtools.proof.oracle.world import Json, Question
from gridview.query.predicates import LIMITS as OF_FILTERS
from gridview.query.references import Reference
from gridview.query.relative_operands import resolve
from gridview.support.errors import InvalidRequest

QUESTIONS_A_PROJECT = 10

ZONES = (
    "UTC",
    "Europe/London",
    "Asia/Kolkata",
    "America/New_York",
    "America/Havana",  # changes its clocks at midnight
    "Asia/Beirut",  # so does this
    "America/Sao_Paulo",  # and this, up to 2018
    "America/St_Johns",  # a minute after midnight, up to 2011
    "Australia/Lord_Howe",  # by half an hour
    "Pacific/Apia",  # left a day out
)
CHANGES = (
    "2023-03-12",
    "2023-11-05",
    "2023-03-26",
    "2023-10-29",
    "2023-04-02",
    "2018-11-04",
    "2018-02-18",
    "2006-10-29",
    "2011-12-30",
)
"""Days on which one of these zones changes its clocks."""

_ANOTHER = 0.5
"""Values of a filter that become relative."""
_UNITS = ("day", "week", "month", "quarter", "year")
_MINUTE = timedelta(minutes=1)
_KINDS = ("date", "datetime", "user")


# The calendar


def day_number(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01."""
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def date_of(number: int) -> tuple[int, int, int]:
    """Year, month and day of a day number."""
    era, of_era = divmod(number + 719_468, 146_097)
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    march = (5 * of_year + 2) // 153
    month = march + 3 if march < 10 else march - 9
    return year + era * 400 + (month <= 2), month, of_year - (153 * march + 2) // 5 + 1


def day_meant(operand: Json, now: datetime) -> int:
    """The number of the day that `today` means."""
    local = now.astimezone(ZoneInfo(operand.get("timezone", "UTC")))
    year, month, day = local.year, local.month, local.day
    unit: str = operand.get("unit", "day")
    count: int = operand["today"]
    if unit in ("day", "week"):
        number = day_number(year, month, day) + count * (7 if unit == "week" else 1)
    else:
        months = year * 12 + month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
        first = day_number(months // 12, months % 12 + 1, 1)
        length = day_number((months + 1) // 12, (months + 1) % 12 + 1, 1) - first
        number = first + min(day, length) - 1
    if not operand.get("start"):
        return number
    year, month, _ = date_of(number)
    firsts = {
        "day": number,
        "week": number - (number + 3) % 7,
        "month": day_number(year, month, 1),
        "quarter": day_number(year, (1, 4, 7, 10)[(month - 1) // 3], 1),
        "year": day_number(year, 1, 1),
    }
    return firsts[unit]


@lru_cache(maxsize=10_000)
def first_minute(number: int, zone: str) -> datetime:
    """The first minute in a zone of this day, or of the one after it if it was left out."""
    around = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=number)
    own, wanted = ZoneInfo(zone), (number, number + 1)
    looks = [around + at * _MINUTE for at in range(-16 * 60, 40 * 60)]
    days = [(one, day_number(*_date_in(one, own))) for one in looks]
    return next(one for day in wanted for one, found in days if found == day)


def _date_in(instant: datetime, zone: ZoneInfo) -> tuple[int, int, int]:
    local = instant.astimezone(zone)
    return local.year, local.month, local.day


def meant(operand: Json, kind: str, now: datetime, user: str) -> str:
    """The value that an operand means for a field of a type."""
    if "me" in operand:
        return user
    if "now" in operand:
        return stored(now + timedelta(seconds=operand["now"]))
    number = day_meant(operand, now)
    if kind == "date":
        return "{:04d}-{:02d}-{:02d}".format(*date_of(number))
    return stored(first_minute(number, operand.get("timezone", "UTC")))


def stored(instant: datetime) -> str:
    """An instant as the table has it."""
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z"


# The questions


class Drawn:
    """A question in both forms, and a clock."""

    def __init__(self, random: Random, loaded: Loaded, question: Question) -> None:
        self._random = random
        self._types = loaded.project.types
        self.user = random.choice(("ann", "Ann", "zoë", "someone else"))
        self.now = self._instant(loaded)
        self.operands: Counter[str] = Counter()
        sent = question.body.get("filter")
        both = self._filter(sent) if sent is not None else self._condition_of_its_own()
        if not self.operands:
            own = self._condition_of_its_own()
            both = [both[0], own[0]], [both[1], own[1]]
            kind = random.choice(("and", "or"))
            both = {kind: both[0]}, {kind: both[1]}
        self.relative, self.fixed = both
        self.question = replace(question, body={**question.body, "filter": self.fixed})

    def _instant(self, loaded: Loaded) -> datetime:
        """An instant near a value of the project, or near a change of clocks, and often near a midnight."""
        random = self._random
        days = [
            str(found)
            for num in loaded.project.issues
            for name, kind in self._types.items()
            if kind in ("date", "datetime")
            and (found := loaded.project.value(num, name))
            and "1980" < str(found) < "2040"
        ]
        chosen = random.choice(days)[:10] if days and random.random() < 0.7 else random.choice(CHANGES)
        noon = datetime.fromisoformat(f"{chosen}T12:00:00+00:00") + timedelta(days=random.randint(-2, 2))
        if random.random() < 0.3:
            return noon + timedelta(
                seconds=random.randint(-43_200, 43_200), microseconds=random.randint(0, 999_999)
            )
        year, month, day = _date_in(noon, ZoneInfo("UTC"))
        midnight = first_minute(day_number(year, month, day), random.choice(ZONES))
        return midnight + timedelta(seconds=random.choice((-3_600, -60, -1, 0, 1, 60, 3_600)))

    def moved(self) -> datetime:
        """The instant of the next request."""
        self.now += timedelta(seconds=self._random.choice((0, 1, 61, 3_601, 43_201, 86_401)))
        return self.now

    def _operand(self, kind: str) -> tuple[Json, str]:
        random = self._random
        if kind == "user":
            operand: Json = {"me": True}
        elif kind == "datetime" and random.random() < 0.3:
            operand = {"now": random.choice((0, -3_600, 3_600, random.randint(-9_999_999, 9_999_999)))}
        else:
            operand = {"today": random.choice((0, 0, -1, 1, 7, -7, random.randint(-40, 40)))}
            if random.random() < 0.5:
                operand["unit"] = random.choice(_UNITS)
            if random.random() < 0.4:
                operand["start"] = random.random() < 0.9
            if random.random() < 0.7:
                operand["timezone"] = random.choice(ZONES)
        self.operands[next(iter(operand))] += 1
        return operand, meant(operand, kind, self.now, self.user)

    def _condition_of_its_own(self) -> tuple[Any, Any]:
        name = self._random.choice([name for name, kind in self._types.items() if kind in _KINDS])
        operand, value = self._operand(self._types[name])
        condition = {"field": name, "op": self._random.choice(("eq", "ne", "lt", "lte", "gt", "gte"))}
        return {**condition, "value": operand}, {**condition, "value": value}

    def _filter(self, node: Json) -> tuple[Any, Any]:
        if "field" in node:
            return self._condition(node)
        ((kind, inner),) = node.items()
        if kind == "not":
            relative, fixed = self._filter(inner)
            return {kind: relative}, {kind: fixed}
        pairs = [self._filter(one) for one in inner]
        return {kind: [one for one, _ in pairs]}, {kind: [one for _, one in pairs]}

    def _condition(self, condition: Json) -> tuple[Any, Any]:
        kind = self._types[condition["field"]]
        if kind not in _KINDS or "value" not in condition:
            return condition, condition
        given = condition["value"]
        pairs = [self._value(kind, one) for one in (given if isinstance(given, list) else [given])]
        relative, fixed = ([one[at] for one in pairs] for at in (0, 1))
        if not isinstance(given, list):
            return {**condition, "value": relative[0]}, {**condition, "value": fixed[0]}
        return {**condition, "value": relative}, {**condition, "value": fixed}

    def _value(self, kind: str, given: Any) -> tuple[Any, Any]:
        return self._operand(kind) if self._random.random() < _ANOTHER else (given, given)


_last: dict[int, Loaded] = {}
"""The project of this process's last question."""


def play(seed: int) -> tuple[Asked, Counter[str]]:
    """Put the question of this number, with relative operands and with fixed values; Difference."""
    place = seed // QUESTIONS_A_PROJECT
    if place not in _last:
        _last.clear()
        project = world.make(Random(f"relative project {place}"), tuple(LIMITS))  # noqa: S311
        loaded = loading.load(MemoryTable(), project, f"relative{place}", f"p{place}")
        _last[place] = orders.placed(loaded, place, Counter())
    loaded = _last[place]
    random = Random(f"relative question {seed}")  # noqa: S311  (the same one each time)
    drawn = Drawn(random, loaded, world.question(random, loaded.project))
    happened = Counter({f"operands: {name}": count for name, count in drawn.operands.items()})
    begun = drawn.now
    resolved = resolve(loaded.catalog, drawn.relative, Reference(stored(begun), drawn.user), OF_FILTERS)
    loading.same("the filter with fixed values", resolved.document, drawn.fixed)

    def refers() -> Reference:
        instant, user = drawn.now, drawn.user
        if drawn.moved().date() != begun.date():
            happened["requests after midnight"] += 1
        return Reference(stored(instant), user)

    def sends(body: Json) -> Json:
        return {**body, "filter": drawn.relative} if body.get("filter") is drawn.fixed else body

    def asked(one: Loaded) -> Asked:
        return compare.put(replace(one, cache=loading.container(one.table, one.catalog)), drawn.question)

    try:
        found = asked(replace(loaded, sends=sends, refers=refers))
    except (Difference, InvalidRequest) as error:
        sent = f"{json.dumps(drawn.relative)} at {stored(begun)} for {drawn.user}"
        said = error.errors if isinstance(error, InvalidRequest) else error
        raise Difference(f"{said}\n  {sent}") from error
    again = asked(loaded)
    for what in ("rows", "refused", "plans", "rounds"):
        loading.same(f"{what} with fixed values", getattr(found, what), getattr(again, what))
    return found, happened

"""IAM's decision about a request, according to its documentation: one statement allows it, and none denies it. Pure.

It knows the condition operators that this project uses, and raises for any other. MiniStack enforces policies, but does
not know DynamoDB's condition keys.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

Statement = Mapping[str, Any]
Context = Mapping[str, tuple[str, ...]]
"""The values of a request for each condition key; a missing key has none."""


class Asked(NamedTuple):
    """An action on a resource, and the facts about the request."""

    action: str
    resource: str
    context: tuple[tuple[str, tuple[str, ...]], ...] = ()


def allows(statements: Iterable[Statement], asked: Asked) -> bool:
    """Whether these statements, of one role, allow a request."""
    effects = {statement["Effect"] for statement in statements if _applies(statement, asked)}
    return "Allow" in effects and "Deny" not in effects


def listed(value: Any) -> list[Any]:
    """A value, or list of values, of a policy as a list."""
    return value if isinstance(value, list) else [value]


def _applies(statement: Statement, asked: Asked) -> bool:
    # NOTE: IAM compares actions without regard to case; no policy here uses another one.
    return (
        any(_like(asked.action, pattern) for pattern in listed(statement["Action"]))
        and any(_like(asked.resource, pattern) for pattern in listed(statement["Resource"]))
        and _holds(statement.get("Condition", {}), dict(asked.context))
    )


def _holds(conditions: Mapping[str, Mapping[str, Any]], context: Context) -> bool:
    return all(
        _operator(operator, context.get(key, ()), [_filled_in(one, context) for one in listed(wanted)])
        for operator, tests in conditions.items()
        for key, wanted in tests.items()
    )


def _operator(operator: str, values: tuple[str, ...], wanted: list[str | None]) -> bool:
    known = [one for one in wanted if one is not None]
    if operator == "Null":
        return (not values) is (known == ["true"])
    quantifier, _, plain = operator.rpartition(":")
    test = _TESTS[plain]
    found = [any(test(value, one) for one in known) for value in values]
    # All of no values match; any of none does not.
    return {"ForAllValues": all, "ForAnyValue": any, "": _single}[quantifier](found)


def _single(found: list[bool]) -> bool:
    assert len(found) <= 1, "a key with several values needs ForAllValues or ForAnyValue"
    return found == [True]


def _filled_in(wanted: str, context: Context) -> str | None:
    """A value with its policy variables replaced; None if the request has no value for one, which
    then matches nothing.
    """
    missing = False

    def value(found: re.Match[str]) -> str:
        nonlocal missing
        values = context.get(found[1], ())
        missing = missing or len(values) != 1
        return "".join(values)

    text = _VARIABLE.sub(value, wanted)
    return None if missing else text


_VARIABLE = re.compile(r"\$\{([^}]+)\}")


@lru_cache(maxsize=4096)
def _pattern(wanted: str) -> re.Pattern[str]:
    escaped = (
        ".*" if character == "*" else "." if character == "?" else re.escape(character)
        for character in wanted
    )
    return re.compile("".join(escaped), re.DOTALL)


def _like(value: str, wanted: str) -> bool:
    if "*" in wanted or "?" in wanted:
        return _pattern(wanted).fullmatch(value) is not None
    return value == wanted


_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "StringEquals": lambda value, wanted: value == wanted,
    "StringLike": _like,
    # ARNs in policies here have no wildcards.
    "ArnEquals": lambda value, wanted: value == wanted,
}

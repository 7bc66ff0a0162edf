"""DynamoDB's condition and filter expressions, as far as the core uses them: parsed and evaluated, not recognised.

So a condition that the core gets wrong is wrong here too. The parser refuses unknown syntax with NotImplementedError.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from botocore.exceptions import ClientError

from gridview.dynamodb.expressions import MAX_EXPRESSION_BYTES, Condition
from gridview.encoding.attribute_values import from_wire

Holds = Callable[[Mapping[str, Any], Condition], bool]
"""Whether an item satisfies an expression under the names and values of a condition."""

_Path = Callable[[Mapping[str, Any], Condition], tuple[bool, Any]]
"""Whether an item has a path, and the value there."""

_TOKEN = re.compile(r"\s*(attribute_exists|attribute_not_exists|contains|AND|OR|<=|>=|[<>=().,]|[#:]?\w+)")
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


def refused(message: str, operation: str) -> ClientError:
    """DynamoDB's answer to a request that is a bug of the core."""
    return ClientError({"Error": {"Code": "ValidationException", "Message": message}}, operation)


def check_length(expression: str, operation: str) -> None:
    """Refuse an expression that DynamoDB finds too long."""
    if len(expression.encode()) > MAX_EXPRESSION_BYTES:
        raise refused("Invalid expression: Expression size has exceeded the maximum allowed size", operation)


def holds(condition: Condition | None, item: Mapping[str, Any]) -> bool:
    """Whether an item (empty if there is none) satisfies a condition or filter."""
    return condition is None or _parsed(condition.expression)(item, condition)


def condition_of(request: Mapping[str, Any]) -> Condition | None:
    """The condition of one write of a transaction, as the request has it."""
    if "ConditionExpression" not in request:
        return None
    values = request.get("ExpressionAttributeValues", {})
    return Condition(
        request["ConditionExpression"],
        request.get("ExpressionAttributeNames", {}),
        {name: from_wire(value) for name, value in values.items()},
    )


@lru_cache(maxsize=1024)
def _parsed(expression: str) -> Holds:
    check_length(expression, "Condition")
    return _Parser(expression).parse()


def _kind(value: Any) -> type:
    """Values of two kinds are never equal, and none is less than the other."""
    return Decimal if isinstance(value, int) and not isinstance(value, bool) else type(value)


class _Parser:
    """Recursive descent: alternatives of conjunctions of comparisons and of tests for a path."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens: list[str] = []
        rest = expression
        while rest:
            token = _TOKEN.match(rest)
            if token is None:
                raise NotImplementedError(expression)
            self._tokens.append(token[1])
            rest = rest[token.end() :]

    def parse(self) -> Holds:
        found = self._any()
        if self._tokens:
            raise NotImplementedError(self._expression)
        return found

    def _any(self) -> Holds:
        parts = self._separated("OR", self._all)
        return parts[0] if len(parts) == 1 else lambda item, given: any(part(item, given) for part in parts)

    def _all(self) -> Holds:
        parts = self._separated("AND", self._one)
        return parts[0] if len(parts) == 1 else lambda item, given: all(part(item, given) for part in parts)

    def _separated(self, word: str, part: Callable[[], Holds]) -> Sequence[Holds]:
        parts = [part()]
        while self._taken(word):
            parts.append(part())
        return parts

    def _one(self) -> Holds:
        if self._taken("("):
            found = self._any()
            self._expect(")")
            return found
        if self._taken("attribute_exists"):
            path = self._in_brackets()
            return lambda item, given: path(item, given)[0]
        if self._taken("attribute_not_exists"):
            path = self._in_brackets()
            return lambda item, given: not path(item, given)[0]
        if self._taken("contains"):
            return self._contains()
        return self._comparison()

    def _contains(self) -> Holds:
        self._expect("(")
        path = self._path()
        self._expect(",")
        operand = self._next()
        self._expect(")")

        def holds(item: Mapping[str, Any], given: Condition) -> bool:
            present, value = path(item, given)
            return present and isinstance(value, (list, str)) and given.values[operand] in value

        return holds

    def _comparison(self) -> Holds:
        path = self._path()
        sign = self._next()
        compare = _COMPARISONS.get(sign)
        operand = self._next()
        if compare is None or not operand.startswith(":"):
            raise NotImplementedError(self._expression)

        def holds(item: Mapping[str, Any], given: Condition) -> bool:
            present, value = path(item, given)
            wanted = given.values[operand]
            if sign != "=" and _kind(wanted) not in (Decimal, str, bytes):
                raise refused("Invalid operand type for operator", "Condition")
            return present and _kind(value) is _kind(wanted) and compare(value, wanted)

        return holds

    def _in_brackets(self) -> _Path:
        self._expect("(")
        path = self._path()
        self._expect(")")
        return path

    def _path(self) -> _Path:
        parts = [self._next()]
        while self._taken("."):
            parts.append(self._next())

        def found(item: Mapping[str, Any], given: Condition) -> tuple[bool, Any]:
            value: Any = item
            for part in parts:
                name = given.names[part] if part.startswith("#") else part
                if not isinstance(value, Mapping) or name not in value:
                    return False, None
                value = value[name]
            return True, value

        return found

    def _next(self) -> str:
        if not self._tokens:
            raise NotImplementedError(self._expression)
        return self._tokens.pop(0)

    def _taken(self, token: str) -> bool:
        if self._tokens[:1] != [token]:
            return False
        self._tokens.pop(0)
        return True

    def _expect(self, token: str) -> None:
        if not self._taken(token):
            raise NotImplementedError(self._expression)

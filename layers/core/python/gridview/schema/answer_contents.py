"""The removal of permanently deleted issues and attributes from remembered answers (`remembered`). Pure.

Each function returns the answer without it, or None if the answer does not contain it.
"""

import json
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any

from gridview.encoding.json_codec import dumps
from gridview.schema.remembered import GONE, Answer
from gridview.support.errors import NotFound, problem

_UNAVAILABLE = "unavailable"
_BY_FIELD = ("fields", _UNAVAILABLE)
"""Members whose own members are fields, by their ids."""
_ISSUE_GONE = "The issue was permanently deleted."


def without_issues(answer: Answer, numbers: Collection[int]) -> Answer | None:
    """Without these issues and their comments. A repeated request finds that they are gone, and writes nothing."""
    body = _parsed(answer)
    if not isinstance(body, dict):
        return None
    if body.get("num") in numbers:
        return _gone(_ISSUE_GONE)
    gone = problem(NotFound(_ISSUE_GONE))
    results, refused = body.get("results"), body.get("refused")
    after = dict(body)
    if isinstance(results, list):
        after["results"] = [
            {"status": GONE, "problem": gone} if _is_of(one, numbers) else one for one in results
        ]
    if isinstance(refused, list):  # of an undo: its conflicts have values
        after["refused"] = [
            {"num": one["num"], "problem": gone} if one["num"] in numbers else one for one in refused
        ]
    return None if after == body else answer._replace(body=dumps(after))


def _is_of(result: Any, numbers: Collection[int]) -> bool:
    """Return whether a result of a batch contains one of these issues."""
    if not isinstance(result, dict):
        return False
    issue, refused = result.get("issue"), result.get("problem")
    current = refused.get("current") if isinstance(refused, dict) else None
    return any(isinstance(one, dict) and one.get("num") in numbers for one in (issue, current))


def without_fields(answer: Answer, fields: Collection[str]) -> Answer | None:
    """Without the values of these fields, named by their ids in the API, and without an attribute of such an id. Without the
    reasons why formulas among them have no value.
    """
    body = _parsed(answer)

    def stripped(node: Any) -> Any:
        if isinstance(node, list):
            return [
                stripped(one) for one in node if not (isinstance(one, dict) and one.get("field") in fields)
            ]
        if not isinstance(node, dict):
            return node
        left = {
            name: stripped(
                {key: value for key, value in inner.items() if key not in fields}
                if name in _BY_FIELD and isinstance(inner, dict)
                else inner
            )
            for name, inner in node.items()
        }
        return {name: inner for name, inner in left.items() if name != _UNAVAILABLE or inner}

    if isinstance(body, dict) and "type" in body and body.get("id") in fields:
        return _gone("The attribute was permanently deleted.")
    after = stripped(body)
    return None if after == body else answer._replace(body=dumps(after))


Redaction = Callable[[Answer], Answer | None]
"""Returns the answer without something, or None if the answer does not contain it."""


def _gone(detail: str) -> Answer:
    return Answer(GONE, {}, detail.encode())


def _parsed(answer: Answer) -> Any:
    try:
        return json.loads(answer.body, parse_float=Decimal)
    except ValueError:
        return None

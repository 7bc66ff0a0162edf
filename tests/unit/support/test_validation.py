"""The errors of a body: all of them in one answer, within limits."""

import pytest

from gridview.support.errors import FieldError, InvalidRequest
from gridview.support.validation import RequestModel, parse


class Body(RequestModel):
    """A body with one property."""

    name: str


def test_a_body_with_properties_without_end_is_refused_as_such() -> None:
    for count, errors in ((31, 31), (32, 1)):
        with pytest.raises(InvalidRequest) as raised:
            parse(Body, {"name": "n", **{f"p{at}": 1 for at in range(count)}})
        assert len(raised.value.errors) == errors
    assert raised.value.errors == (FieldError("body", "must have at most 32 properties"),)

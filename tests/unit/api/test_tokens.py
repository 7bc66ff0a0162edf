"""Consistency tokens in requests."""

from types import SimpleNamespace
from typing import Any

from gridview.api.tokens import carried


def test_a_request_without_tokens_needs_no_secret() -> None:
    request: Any = SimpleNamespace(header=lambda _: None, path={"project": "35e9"}, actor=SimpleNamespace(tenant="0807"))
    no_secret: Any = None
    assert carried(request, no_secret) == ()

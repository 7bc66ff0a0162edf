"""Consistency tokens in requests and answers, where there is no secret to seal them with."""

from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from gridview.api.tokens import carried, token_header
from gridview.view.shown_versions import Shown

REQUEST: Any = SimpleNamespace(
    header=lambda _: None, path={"project": "35e9"}, actor=SimpleNamespace(tenant="0807")
)


class Source:
    """A source of secrets that cannot be reached."""

    def tokens(self) -> None:
        raise EndpointConnectionError(endpoint_url="https://secrets.invalid")


SOURCE: Any = Source()


def test_a_request_without_tokens_needs_no_secret() -> None:
    assert carried(REQUEST, SOURCE) == ()


@pytest.mark.parametrize(("shown", "logged"), [(Shown({}, 0), 0), (Shown({7: 2}, 0), 1), (Shown({}, 5), 1)])
def test_an_answer_without_its_token_is_logged(shown: Shown, logged: int) -> None:
    lines: list[str] = []
    logger: Any = SimpleNamespace(exception=lines.append)
    assert token_header(REQUEST, SOURCE, shown, logger) == {}
    assert lines == ["there is no secret to seal tokens with"] * logged

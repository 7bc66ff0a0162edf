"""The bodies of requests that write comments."""

import pytest
from pydantic import ValidationError

from gridview.commands.comment_requests import CommentCreate, CommentPatch
from gridview.schema.comments import MAX_MENTIONS


@pytest.mark.parametrize("model", [CommentCreate, CommentPatch])
def test_a_comment_mentions_no_more_users_than_its_schema_allows(
    model: type[CommentCreate] | type[CommentPatch],
) -> None:
    users = [f"u{number}" for number in range(MAX_MENTIONS + 1)]
    assert model.model_validate({"text": "x", "mentions": users[1:]}).mentions == users[1:]
    with pytest.raises(ValidationError, match="at most 50"):
        model.model_validate({"text": "x", "mentions": users})
    assert model.model_json_schema()["properties"]["mentions"]["maxItems"] == MAX_MENTIONS

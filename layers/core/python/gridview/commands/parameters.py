"""Models of the query parameters of lists. The OpenAPI document is made from them. Pure.

They are apart from the bodies of writes (`requests`), so that the query function does not build those at a cold start.
"""

from pydantic import Field as ModelField

from gridview.commands.actor import MAX_NAME
from gridview.support.validation import RequestModel

MAX_ITEMS = 500
"""Items of a result page of a list."""


class ListParameters(RequestModel):
    """GET /v1/projects."""

    limit: int = ModelField(default=100, ge=1, le=MAX_ITEMS)
    cursor: str | None = None


class UsersParameters(ListParameters):
    """GET /v1/users."""

    prefix: str = ModelField(
        default="",
        max_length=MAX_NAME,
        description="The beginning of the names to return, ignoring case and accents.",
    )

"""Models of the request bodies of comments. Pure."""

from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema
from pydantic import Field as ModelField

from gridview.schema import ids
from gridview.schema.comments import MAX_COMMENT_LENGTH, MAX_MENTIONS
from gridview.support.validation import RequestModel, omissible

_Text = Annotated[str, ModelField(min_length=1, max_length=MAX_COMMENT_LENGTH)]


def _all_distinct(users: list[str]) -> list[str]:
    if len(set(users)) < len(users):
        raise ValueError("must not name a user twice")
    return users


_USER = f"^{ids.USER.pattern}$"
_Mentions = Annotated[
    list[Annotated[str, ModelField(pattern=_USER)]],
    ModelField(max_length=MAX_MENTIONS),
    AfterValidator(_all_distinct),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "string", "pattern": _USER},
            "maxItems": MAX_MENTIONS,
            "uniqueItems": True,
        }
    ),
]


class CommentCreate(RequestModel):
    """POST /v1/projects/{project}/issues/{num}/comments."""

    text: _Text
    mentions: _Mentions = ModelField(
        default_factory=list, description="Ids of users of the tenant, as `GET /v1/users` lists them."
    )


class CommentPatch(RequestModel):
    """PATCH /v1/projects/{project}/issues/{num}/comments/{comment}. Omitted properties stay unchanged."""

    text: _Text = omissible()
    mentions: _Mentions = omissible()

"""The patterns of identifiers, and the making of new ones."""

import re
import secrets
import string
import unicodedata
from collections.abc import Container

TENANT = re.compile(r"[a-z0-9]{2,32}")
PROJECT = re.compile(r"[a-z0-9]{2,32}")
ATTRIBUTE = re.compile(r"[a-z0-9_]{1,64}")
COMPOSITE = re.compile(r"c[1-9][0-9]{0,7}")
ISSUE = re.compile(r"[1-9][0-9]{0,7}")
COMMENT = re.compile(r"[1-9][0-9]{0,5}")
VIEW = re.compile(r"v[1-9][0-9]{0,7}")
USER = re.compile(r"[A-Za-z0-9_.@+-]{1,128}")
WEBHOOK = re.compile(r"w[a-z0-9]{12}")
DELIVERY = re.compile(
    r"[1-9][0-9]{0,11}_(?:0|[1-9][0-9]{0,5})(?:r(?:[1-9][0-9]{0,11}|(?:[1-9][0-9]{0,11}_)?[0-9a-f]{12})?)?"
)
JOB = re.compile(r"[0-9a-f]{20}")

FORMER_USER = "former-user"
"""Replaces the id of a user who was forgotten (docs/forgetting.md). No caller has this id: `commands.actor`
refuses it.
"""

MAX_ISSUE_NUMBER = 99_999_999
"""The highest issue number. Deleted issues keep theirs."""

MAX_COMMENT_ID = 999_998
"""The highest id of a comment on an issue. Deleted comments keep theirs."""

MAX_VIEW_NUMBER = 99_999_999
"""The highest number in the id of a saved view. Deleted views keep theirs."""

SCHEMA_NAME = "x-name"
"""A JSON Schema with this member appears under that name in the OpenAPI document, with a reference in its
place.
"""

FIELD_ID_SCHEMA = {SCHEMA_NAME: "FieldId", "type": "string", "pattern": f"^{ATTRIBUTE.pattern}$"}
"""The schema of the id of an attribute or of a built-in field."""

RESERVED_FIELDS = frozenset({"num", "name", "state", "created", "updated", "created_by", "updated_by"})
"""The fields that every issue has; no attribute may take their ids."""

_ALPHABET = string.ascii_lowercase + string.digits
_ATTRIBUTE_LENGTH = 64


def new_project_id() -> str:
    """Return a random project id (41 bits). The conditional put refuses a collision, and the caller tries
    again.
    """
    return "".join(secrets.choice(_ALPHABET) for _ in range(8))


def view_number(view: str) -> int:
    """Return the number in the id of a saved view."""
    return int(view.removeprefix("v"))


def new_webhook_id() -> str:
    """Return a random webhook id (62 bits), which no other project has either."""
    return "w" + "".join(secrets.choice(_ALPHABET) for _ in range(12))


def new_job_id(milliseconds: int) -> str:
    """A job id made at this time, in milliseconds since 1970: ids sort by the times at which they were made.
    36 bits are random.
    """
    return f"{milliseconds:011x}{secrets.randbits(36):09x}"


def attribute_id_from(name: str, taken: Container[str]) -> str:
    """Return an attribute id made from a name: `Sign Off` -> `sign_off`. A number is appended if that id is
    reserved or taken.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:_ATTRIBUTE_LENGTH] or "attribute"
    candidate, suffix = stem, 1
    while candidate in RESERVED_FIELDS or candidate in taken:
        suffix += 1
        candidate = f"{stem[: _ATTRIBUTE_LENGTH - len(str(suffix)) - 1]}_{suffix}"
    return candidate

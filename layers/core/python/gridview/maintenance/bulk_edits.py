"""The edits of a bulk change: fixed values, a text in the place of another, or one field copied into another. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Protocol

from pydantic import AfterValidator
from pydantic import Field as ModelField

from gridview.encoding.tokenizer import is_mark, is_of_word
from gridview.encoding.values import TEXT_LIMIT, parse_text
from gridview.query.grid_request import FieldId
from gridview.query.predicates import NUMBER
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Changes, Document, parse_value
from gridview.schema.field_conversion import NotConvertible, converted
from gridview.schema.fields import NUM, Field, FieldType
from gridview.support.errors import COMPUTED_FIELD, Conflict, FieldError, InvalidRequest, invalid
from gridview.support.validation import RequestModel

MAX_REPLACED_FIELDS: Final = 50
MAX_FIND_LENGTH: Final = 256

WRITABLE: Final = frozenset(("name", "state"))
"""The built-in fields that a request can set."""

Match = Literal["part", "word", "whole"]

_GivenText = Annotated[str, AfterValidator(parse_text)]


def _all_different(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("must not name a field twice")
    return names


class ReplaceInput(RequestModel):
    """A text is put in the place of another, wherever that occurs in these text fields."""

    fields: Annotated[list[FieldId], AfterValidator(_all_different)] = ModelField(
        min_length=1, max_length=MAX_REPLACED_FIELDS
    )
    find: _GivenText = ModelField(min_length=1, max_length=MAX_FIND_LENGTH)
    with_: _GivenText = ModelField(alias="with", max_length=TEXT_LIMIT)
    match: Match = ModelField(
        default="part",
        description="`part`: each occurrence that no accent or other mark follows. `word`: each occurrence as a whole word, as "
        "`has_words` finds it. `whole`: only a value that is equal.",
    )
    case: bool = ModelField(default=False, description="Whether upper and lower case differ.")


class CopyInput(RequestModel):
    """The value of one field is converted to the type of another, and written into it."""

    from_: FieldId = ModelField(alias="from")
    to: FieldId


class Edit(Protocol):
    """The new values of an issue, by its document."""

    @property
    def settles(self) -> bool:
        """Whether an issue that has the new values has no others to get."""

    def changes(self, document: Document) -> Changes:
        """Return the new values. InvalidRequest if the issue cannot have them."""


@dataclass(frozen=True, slots=True)
class SetValues:
    """The same values for all issues."""

    values: Changes

    @property
    def settles(self) -> bool:
        """Yes."""
        return True

    def changes(self, _: Document) -> Changes:
        """Return the values."""
        return self.values


@dataclass(frozen=True)
class Replacement:
    """A text in the place of another."""

    fields: tuple[Field, ...]
    find: str
    text: str
    match: Match
    case: bool

    @property
    def settles(self) -> bool:
        """No: if "a" becomes "aa", there is always another "a"."""
        return False

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(re.escape(self.find), 0 if self.case else re.IGNORECASE)

    def _replaced(self, value: str) -> str:
        if self.match == "whole":
            return self.text if self._pattern.fullmatch(value) else value
        is_match = _is_word if self.match == "word" else _is_part
        after, end = "", 0
        while (found := _first(self._pattern, value, end, is_match)) is not None:
            after += value[end : found.start()] + self.text
            end = found.end()
        return after + value[end:]

    def changes(self, document: Document) -> Changes:
        """Return the values that contain the text, with the other one. InvalidRequest: too long, or required."""
        after: dict[str, Any] = {}
        errors: list[FieldError] = []
        for field in self.fields:
            value = field.value_in(document)
            if value is None or (replaced := self._replaced(value)) == value:
                continue
            try:
                after[field.key] = parse_value(field, replaced)
            except ValueError as error:
                errors.append(_error(field, str(error)))
        if errors:
            raise _refused(errors)
        return changes_of(after)


def _first(
    pattern: re.Pattern[str], value: str, begin: int, is_match: Callable[[str, int, int], bool]
) -> re.Match[str] | None:
    """Return the first place of a pattern in a value, from `begin` on, that is a match."""
    while (found := pattern.search(value, begin)) is not None and not is_match(value, *found.span()):
        begin = found.start() + 1  # the next match may overlap this place
    return found


def _is_part(value: str, _: int, end: int) -> bool:
    """Return whether no mark follows a place: without its accent or vowel sign, the last letter is another one."""
    return not is_mark(value[end : end + 1] or " ")


def _is_word(value: str, start: int, end: int) -> bool:
    """Return whether a place is between characters that belong to no word, as filters split texts into words."""
    before, after = value[start - 1 : start], value[end : end + 1]
    return not is_of_word(before or " ") and not is_of_word(after or " ")


@dataclass(frozen=True, slots=True)
class Copied:
    """The value of one field, in another."""

    source: Field
    target: Field

    @property
    def settles(self) -> bool:
        """Yes."""
        return True

    def changes(self, document: Document) -> Changes:
        """Return the value of the source as one of the target. InvalidRequest: not convertible, too long, required."""
        try:
            value = converted(self.source, self.target, self.source.value_in(document))
        except NotConvertible as error:
            raise _refused([_error(self.target, str(error))]) from None
        return changes_of({self.target.key: value})


def changes_of(values: Mapping[str, Any]) -> Changes:
    """Return these values, by internal field key, as those of a request."""
    return Changes(
        {key: value for key, value in values.items() if key in WRITABLE},
        {key: value for key, value in values.items() if key not in WRITABLE},
    )


def _error(field: Field, message: str) -> FieldError:
    return FieldError(field.id if field.builtin else f"fields.{field.id}", message)


def _refused(errors: list[FieldError]) -> InvalidRequest:
    return InvalidRequest("The new values are not valid. `errors` lists why.", errors)


# From a request, and in a job


def parse_replace(catalog: Catalog, request: ReplaceInput) -> dict[str, Any]:
    """Return a replacement in stored form. InvalidRequest: a field is no text that a request can set."""
    fields = [catalog.get(name) or NUMBER for name in request.fields]
    errors = [
        FieldError(
            f"replace.fields.{at}",
            COMPUTED_FIELD if field.computed else "is not a text field that can be written",
        )
        for at, field in enumerate(fields)
        if field.computed or field.type is not FieldType.TEXT
    ]
    if errors:
        raise invalid("The request is not valid. Fix what `errors` lists.", errors)
    return {
        "fields": [field.key for field in fields],
        "find": request.find,
        "text": request.with_,
        "match": request.match,
        "case": request.case,
    }


def parse_copy(catalog: Catalog, request: CopyInput) -> dict[str, Any]:
    """Return a copy in stored form. InvalidRequest: the target cannot be written, or is the source."""
    target = catalog.get(request.to) or NUMBER
    if request.to == request.from_:
        why = "must be another field than from"
    elif target is NUMBER or (target.builtin and target.key not in WRITABLE):
        why = "is not a field that can be written"
    elif target.computed:
        why = COMPUTED_FIELD
    else:
        return {"from": (catalog.get(request.from_) or NUMBER).key, "to": target.key}
    raise invalid("The request is not valid. Fix what `errors` lists.", [FieldError("copy.to", why)])


def replacement(catalog: Catalog, stored: Mapping[str, Any]) -> Replacement:
    """Decode a replacement. Conflict if one of its fields was deleted."""
    fields = tuple(_living(catalog, key) for key in stored["fields"])
    return Replacement(fields, stored["find"], stored["text"], stored["match"], stored["case"])


def copied(catalog: Catalog, stored: Mapping[str, Any]) -> Copied:
    """Decode a copy. Conflict if one of its fields was deleted."""
    return Copied(_living(catalog, stored["from"]), _living(catalog, stored["to"]))


def _living(catalog: Catalog, key: str) -> Field:
    field = NUMBER if key == NUM else catalog.living(key)
    if field is None:
        raise Conflict("A field that the job reads or writes was deleted.")
    return field

"""Consistency tokens: the issues that a caller has just written or seen, for requests whose answers have to
include them. Pure.

Every write answers a token in the header `X-Consistency-Token`, and so does a read that shows versions that
the index may still lack. A token is sealed like a cursor, for one tenant, and is valid for a minute: then the
index holds the write, or lags. Its content is binary, so that 500 consecutive new issues take 1.4 KB:

    form (1 byte) | until (4 bytes, seconds since 1970) | project | issues, each: distance from the one before, version

The token of a read begins with an issue 0, which there is not. Its version is the number up to which the
answer counts the journal.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from struct import Struct
from typing import NamedTuple

from gridview.encoding.seals import Seals
from gridview.support.errors import FieldError, InvalidRequest

CONSISTENCY_TOKEN = "X-Consistency-Token"  # noqa: S105  (a header, not a secret)
"""The header of requests and answers."""

SECONDS = 60
"""Seconds for which a token is valid."""

MAX_ISSUES = 500
"""Issues that the tokens of one request may name in all."""

DELETED = 0
"""Represents the version of an issue that was deleted."""

_JOURNAL = 0
"""Represents the journal in the place of an issue."""

_FORM = 1
_HEAD = Struct(">BI")


class RecentWrites(NamedTuple):
    """Writes of issues of one project. `versions`: issue number -> version, or DELETED; valid `until`, in
    seconds since 1970.

    `number`: None if these are the caller's writes. Otherwise the caller has seen them, and all that the
    project's journal reports up to this number (0: nothing of it).
    """

    project: str
    until: int
    versions: Mapping[int, int]
    number: int | None = None

    def to_bytes(self) -> bytes:
        """Encode."""
        name = self.project.encode()
        parts = [_HEAD.pack(_FORM, self.until), _varint(len(name)), name]
        if self.number is not None:
            parts += [_varint(_JOURNAL), _varint(self.number)]
        last = 0
        for num, version in sorted(self.versions.items()):
            parts += [_varint(num - last), _varint(version)]
            last = num
        return b"".join(parts)

    @classmethod
    def from_bytes(cls, content: bytes) -> "RecentWrites":
        """Decode the result of `to_bytes`. ValueError for another form."""
        form, until = _HEAD.unpack_from(content)
        if form != _FORM:
            raise ValueError("not a token of this version")
        begin = _HEAD.size + 1  # a project's id has at most 32 characters
        end = begin + content[_HEAD.size]
        numbers = _numbers(content[end:])
        versions, num = dict[int, int](), 0
        for distance in numbers:
            num += distance
            versions[num] = next(numbers)
        number = versions.pop(_JOURNAL, None)
        return cls(content[begin:end].decode(), until, versions, number)


Recent = tuple[RecentWrites, ...]
"""The writes that the answer to one request has to include; () for a request without tokens."""

OpenOther = Callable[[str], Recent]
"""Returns the writes that another text than a token asks an answer to include. ValueError: it is nothing of
the kind.
"""


class ConsistencyTokens:
    """Seals and opens tokens. `secrets`: the current one first, then the older ones still accepted."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._seals = Seals(secrets, "consistency")

    def token(
        self, tenant: str, project: str, versions: Mapping[int, int], now: float, number: int | None = None
    ) -> str:
        """Return the token of writes made `now`; of an answer that shows these versions, if there is a
        `number`.
        """
        return self._seals.seal(
            RecentWrites(project, int(now) + SECONDS, versions, number).to_bytes(), tenant.encode()
        )

    def opened(self, header: str | None, tenant: str, otherwise: OpenOther | None = None) -> Recent:
        """Return the writes in a header's tokens. InvalidRequest for a text that is no token of this tenant.

        `otherwise`: opens texts that may replace a token.
        """
        texts = [text.strip() for text in header.split(",")] if header is not None else []
        try:
            return tuple(one for text in texts for one in self._opened(text, tenant, otherwise))
        except ValueError:
            raise refused(
                "must be tokens that the API returned to this tenant, or cursors of this project's changes, "
                "separated by commas"
            ) from None

    def _opened(self, text: str, tenant: str, otherwise: OpenOther | None) -> Recent:
        try:
            return (RecentWrites.from_bytes(self._seals.open(text, tenant.encode())),)
        except ValueError:
            if otherwise is None:
                raise
        return otherwise(text)


def refused(message: str) -> InvalidRequest:
    """Return the error of a header that is wrong."""
    return InvalidRequest(f"{CONSISTENCY_TOKEN} {message}.", [FieldError(CONSISTENCY_TOKEN, message)])


def still_good(writes: Iterable[RecentWrites], project: str, now: float) -> Recent:
    """Return the writes of a project that have not expired, each once. InvalidRequest for more than 500
    issues.
    """
    found = _good(writes, project, now)
    if len(issues_in(found)) > MAX_ISSUES:
        raise refused(f"must name at most {MAX_ISSUES} issues in all")
    return found


def with_those_of_a_cursor(
    recent: Recent, carried: Iterable[RecentWrites], project: str, now: float
) -> Recent:
    """Return these writes and the ones in a cursor: the newest first, up to 500 issues. The client cannot
    know the content of a cursor.

    Writes that others cover for as long are left out, or a long walk would gather more than a cursor can
    hold.
    """
    together = recent
    for one in sorted(_good(carried, project, now), key=attrgetter("until"), reverse=True):
        lasting = tuple(other for other in together if other.until >= one.until)
        if one.versions.keys() <= issues_in(lasting) and (one.number or 0) <= number_in(lasting):
            continue
        more = _good((*together, one), project, now)
        together = more if len(issues_in(more)) <= MAX_ISSUES else together
    return together


def _good(writes: Iterable[RecentWrites], project: str, now: float) -> Recent:
    good = (one for one in writes if one.project == project and now <= one.until)
    found = tuple({one.to_bytes(): one for one in good}.values())
    furthest = max(found, key=lambda one: one.number or 0, default=None)
    return tuple(one for one in found if one.versions or (one.number and one is furthest))


def to_texts(writes: Recent) -> list[str]:
    """Return these as parts of a cursor, which carries the writes in its page."""
    return [base64.b85encode(one.to_bytes()).decode() for one in writes]


def from_texts(texts: Iterable[str]) -> Recent:
    """Return the writes in texts of `to_texts`."""
    return tuple(RecentWrites.from_bytes(base64.b85decode(one)) for one in texts)


def issues_in(writes: Recent) -> frozenset[int]:
    """Return the numbers of the issues."""
    return frozenset(num for one in writes for num in one.versions)


def number_in(writes: Recent) -> int:
    """Return the number up to which an answer has to include the journal; 0: no such demand."""
    return max((one.number or 0 for one in writes), default=0)


def writes_in(writes: Recent) -> Recent:
    """Return the writes that the caller has made, and not only seen."""
    return tuple(one for one in writes if one.number is None)


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; all bytes but the last have the eighth set."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))


def _numbers(content: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in content:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte <= 0x7F:
            yield number
            number = shift = 0

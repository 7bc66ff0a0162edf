"""Consistency tokens: which issues a caller has just written, for requests whose answers are to hold these writes. Pure.

Every write answers a token in the header `X-Consistency-Token`. A token is sealed like a cursor, for one tenant, and is good for a
minute: then the index holds the write, or lags. Its content is binary, so that 500 consecutive new issues take 1.4 KB:

    form (1 byte) | until (4 bytes, seconds since 1970) | project | issues, each: distance from the one before, version
"""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from struct import Struct
from typing import NamedTuple

from gridview.encoding.seals import Seals
from gridview.support.errors import FieldError, InvalidRequest

CONSISTENCY_TOKEN = "X-Consistency-Token"  # noqa: S105  (a header, not a secret)
"""The header of requests and answers."""

SECONDS = 60
"""How long a token is good for."""

MAX_ISSUES = 500
"""Issues that the tokens of one request may name in all."""

DELETED = 0
"""Stands for the version of an issue that was deleted."""

_FORM = 1
_HEAD = Struct(">BI")


class RecentWrites(NamedTuple):
    """Writes of issues of one project. `versions`: issue number -> version, or DELETED; good `until`, in seconds since 1970."""

    project: str
    until: int
    versions: Mapping[int, int]

    def to_bytes(self) -> bytes:
        """Encode."""
        name = self.project.encode()
        parts = [_HEAD.pack(_FORM, self.until), _varint(len(name)), name]
        last = 0
        for num, version in sorted(self.versions.items()):
            parts += [_varint(num - last), _varint(version)]
            last = num
        return b"".join(parts)

    @classmethod
    def from_bytes(cls, content: bytes) -> "RecentWrites":
        """Decode what `to_bytes` made. ValueError for another form."""
        form, until = _HEAD.unpack_from(content)
        if form != _FORM:
            raise ValueError("another form")
        begin = _HEAD.size + 1  # a project's id has at most 32 characters
        end = begin + content[_HEAD.size]
        numbers = _numbers(content[end:])
        versions, num = {}, 0
        for distance in numbers:
            num += distance
            versions[num] = next(numbers)
        return cls(content[begin:end].decode(), until, versions)


Recent = tuple[RecentWrites, ...]
"""What the answer to one request is to hold; () for a request without tokens."""


class ConsistencyTokens:
    """Seals and opens tokens. `secrets`: the current one first, then the older ones still accepted."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._seals = Seals(secrets, "consistency")

    def token(self, tenant: str, project: str, versions: Mapping[int, int], now: float) -> str:
        """The token of writes made `now`."""
        return self._seals.seal(
            RecentWrites(project, int(now) + SECONDS, versions).to_bytes(), tenant.encode()
        )

    def opened(self, header: str | None, tenant: str) -> Recent:
        """The writes that a header's tokens tell of. InvalidRequest for what is no token of this tenant."""
        texts = [text.strip() for text in header.split(",")] if header is not None else []
        try:
            return tuple(RecentWrites.from_bytes(self._seals.open(text, tenant.encode())) for text in texts)
        except ValueError:
            told = "must hold tokens that writes of this tenant have answered, joined by commas"
            raise InvalidRequest(
                f"{CONSISTENCY_TOKEN} {told}.", [FieldError(CONSISTENCY_TOKEN, told)]
            ) from None


def still_good(writes: Iterable[RecentWrites], project: str, now: float) -> Recent:
    """Those of a project that have not expired, each once. InvalidRequest for more than 500 issues."""
    found = _good(writes, project, now)
    if len(issues_in(found)) > MAX_ISSUES:
        told = f"must name at most {MAX_ISSUES} issues in all"
        raise InvalidRequest(f"{CONSISTENCY_TOKEN} {told}.", [FieldError(CONSISTENCY_TOKEN, told)])
    return found


def with_those_of_a_cursor(
    recent: Recent, carried: Iterable[RecentWrites], project: str, now: float
) -> Recent:
    """These, and what a cursor carries: the newest first, as far as 500 issues go. Who sends a cursor cannot know what is in it."""
    together = recent
    for one in sorted(_good(carried, project, now), key=attrgetter("until"), reverse=True):
        more = _good((*together, one), project, now)
        together = more if len(issues_in(more)) <= MAX_ISSUES else together
    return together


def _good(writes: Iterable[RecentWrites], project: str, now: float) -> Recent:
    good = (one for one in writes if one.project == project and now <= one.until)
    return tuple({one.to_bytes(): one for one in good}.values())


def to_texts(writes: Recent) -> list[str]:
    """As parts of a cursor, which carries what its page held."""
    return [base64.b85encode(one.to_bytes()).decode() for one in writes]


def from_texts(texts: Iterable[str]) -> Recent:
    """What `to_texts` made them of."""
    return tuple(RecentWrites.from_bytes(base64.b85decode(one)) for one in texts)


def issues_in(writes: Recent) -> frozenset[int]:
    """The numbers of the issues."""
    return frozenset(num for one in writes for num in one.versions)


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

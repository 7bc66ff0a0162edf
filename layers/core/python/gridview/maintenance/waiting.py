"""A batch of stream records that waits for upkeep: its name, its content and its back-off. Pure.

    waiting/<due>-<since>-<attempts>-<state>-<id>   seconds since 1970, three digits, `w` or `b`, a UUID

Names sort by the instant at which a batch is due. `b` (begun): an attempt began and did not end in order,
because it raised an error or was killed. The next pass cuts such a batch in two, so a few attempts isolate
what fails, and the rest gets done.
"""

import re
import uuid
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

import orjson

from gridview.encoding import keys
from gridview.support import clock

Records = Sequence[Mapping[str, Any]]
"""Records of the stream as Lambda delivers them."""

BY_LAMBDA: Final = "aws/lambda/"
"""The prefix of batches that the event source mapping gave up."""

WAITING: Final = "waiting/"
"""The prefix of batches that upkeep derives again."""

FIRST_WAIT: Final = 30
"""Seconds before the first attempt."""

LONGEST_WAIT: Final = 3_600
"""Seconds between two attempts, at most."""

PATIENCE: Final = 86_400
"""Seconds after which a batch is a person's: its issues become dead letters."""

_FEWEST_ATTEMPTS: Final = 8
"""A backlog may be so long that a batch is first attempted after the patience."""

_MOST_ATTEMPTS: Final = 999
_NAME: Final = re.compile(rf"{WAITING}(\d{{10}})-(\d{{10}})-(\d{{3}})-([bw])-([0-9a-f-]{{36}})")
_ID: Final = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The parts of a waiting batch's name. `due` and `since` (it was handed over) are seconds since 1970."""

    due: int
    since: int
    attempts: int
    begun: bool
    id: str

    @classmethod
    def new(cls) -> Self:
        """Return a batch that is handed over now."""
        now = int(clock.seconds())
        return cls(due=now + FIRST_WAIT, since=now, attempts=0, begun=False, id=str(uuid.uuid4()))

    @classmethod
    def taken_over(cls, name: str) -> Self:
        """Return a batch that Lambda gave up, due now. Lambda's names end in a UUID, which it keeps."""
        now = int(clock.seconds())
        return cls(due=now, since=now, attempts=0, begun=False, id=name[-_ID:])

    @classmethod
    def named(cls, name: str) -> Self | None:
        """By its name; None for the name of something else."""
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        due, since, attempts, state, one = found.groups()
        return cls(due=int(due), since=int(since), attempts=int(attempts), begun=state == "b", id=one)

    @property
    def name(self) -> str:
        """Its name in the bucket."""
        state = "b" if self.begun else "w"
        return f"{WAITING}{self.due:010d}-{self.since:010d}-{self.attempts:03d}-{state}-{self.id}"

    @property
    def is_given_up(self) -> bool:
        """Whether it has waited for so long, and was attempted so often, that upkeep leaves it to a person."""
        return self.attempts >= _FEWEST_ATTEMPTS and clock.seconds() - self.since >= PATIENCE

    def attempted(self) -> Self:
        """Return this batch while an attempt is on, due again after twice the last wait."""
        wait = min(2 * FIRST_WAIT * 2 ** min(self.attempts, 30), LONGEST_WAIT)
        return replace(
            self,
            due=int(clock.seconds()) + wait,
            attempts=min(self.attempts + 1, _MOST_ATTEMPTS),
            begun=True,
        )

    def refused(self) -> Self:
        """Return this batch after an attempt that ended in order, and was refused by the table."""
        return replace(self, begun=False)

    def halves(self) -> tuple[Self, Self]:
        """Two batches in the place of this one."""
        return replace(self, begun=False), replace(self, begun=False, id=str(uuid.uuid4()))


class Batch(NamedTuple):
    """The content of a waiting batch. `recorded`: its history is written, but its derived items are not.
    `reason`: why it waits.
    """

    records: Records
    recorded: bool
    reason: str

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Decode the result of `encoded`, or of Lambda. ValueError for something else."""
        try:
            stored = orjson.loads(content)
            payload = stored["payload"]
            records = (orjson.loads(payload) if isinstance(payload, str) else payload)["Records"]
            for record in records:
                key_of(record)
            return cls(
                records, bool(stored.get("recorded", False)), str(stored["requestContext"]["condition"])
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no {error}") from error

    def encoded(self) -> bytes:
        """As Lambda writes a batch that it gave up, as far as anyone reads that."""
        return orjson.dumps(
            {
                "requestContext": {"condition": self.reason},
                "timestamp": clock.now(),
                "recorded": self.recorded,
                "payload": {"Records": list(self.records)},
            },
            default=_text_of,
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """The partition keys in it, each once, in the order of the records."""
        return tuple(dict.fromkeys(map(key_of, self.records)))

    def only(self, wanted: Sequence[str]) -> Self:
        """Return the records of these partition keys."""
        return self._replace(records=[one for one in self.records if key_of(one) in wanted])

    def of_table(self, name: str) -> Self:
        """Return the records of the table of this name."""
        return self._replace(records=of_table(self.records, name))

    def halves(self) -> tuple[Self, Self]:
        """Two batches, each with all records of its issues, so that the order for each issue remains."""
        middle = len(self.keys) // 2
        return self.only(self.keys[:middle]), self.only(self.keys[middle:])


def _text_of(value: object) -> str:
    """Return a binary value as Lambda has it in JSON."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    raise TypeError(f"a record cannot contain {type(value).__name__}")


def of_table(records: Records, name: str) -> Records:
    """Return the records of the table of this name: without those of a table that a restore replaced.

    The restored table lacks their writes. They would bring back what the restore undid, and delete what it brought
    back. Records of tests may not name their stream.
    """
    # arn:aws:dynamodb:<region>:<account>:table/<name>/stream/<label>
    return [one for one in records if one.get("eventSourceARN", f"/{name}/").split("/")[1] == name]


def key_of(record: Mapping[str, Any]) -> str:
    """Return the partition key that a record is about."""
    return str(record["dynamodb"]["Keys"][keys.PK]["S"])

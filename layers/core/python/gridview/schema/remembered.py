"""Records of requests with an Idempotency-Key, and the answers that they keep, as stored items. Pure.

    request-T.P  <hash>              the record: a hash of the body, and the answer
    request-T.P  <hash>.part-0-0001  a further part of a long answer

The records of a project share a partition, so that what leaves the project can leave them too
(`maintenance.forgotten_answers`).
"""

import json
import time
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gridview.dynamodb.expressions import Item
from gridview.encoding import keys
from gridview.encoding.json_codec import dumps
from gridview.support import clock
from gridview.support.errors import RequestInProgress

KEPT_DAYS = 1.0

GONE = 404
"""Status of a kept answer whose content was permanently deleted; its body says so. No refusal is kept otherwise."""

_FINISHED = "finished"

_PART_BYTES = 350_000
"""Bytes of an answer in one item: DynamoDB stores at most 400 KB."""


class Answer(NamedTuple):
    """The answer to a request, as it is given again."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Use(NamedTuple):
    """A use of a key: tenant and project, a hash of the key and its scope, and a hash of the body."""

    tenant: str
    project: str
    digest: str
    body: str

    @property
    def partition(self) -> str:
        """The partition of its record."""
        return keys.request(self.tenant, self.project)


class Record:
    """The items of the table under a key: the item with the state, if it has not expired, and further parts
    of an answer.
    """

    def __init__(self, digest: str, items: Iterable[Item]) -> None:
        self._items = {item[keys.SK]: item for item in items}
        self.stored: Item | None = self._items.get(keys.remembered(digest))
        """The item with the state, even if it has expired: the table may hold it for days after that."""

    @property
    def state(self) -> Item | None:
        """The item with the state; None if there is none, or if it has expired."""
        if self.stored is None or self.stored[keys.TTL_ATTRIBUTE] < time.time():
            return None
        return self.stored

    @property
    def answer(self) -> Answer | None:
        """The answer that it holds. RequestInProgress while a part of it is missing."""
        return None if self.state is None else self.kept_answer

    @property
    def kept_answer(self) -> Answer | None:
        """The answer that it holds, even if it has expired. RequestInProgress while a part of it is missing."""
        state = self.stored
        if state is None or "parts" not in state:
            return None
        names = [_part(state, place) for place in range(state["parts"])]
        if any(name not in self._items for name in names):
            raise RequestInProgress(
                "The answer to the same request is being written. Send the request again to get it."
            )
        packed = [state["answer"], *(self._items[name]["answer"] for name in names)]
        return Answer(state["status"], state["headers"], zlib.decompress(b"".join(packed)))


def new_state(use: Use) -> Item:
    """Return the state of a record that begins now."""
    return {
        keys.PK: use.partition,
        keys.SK: keys.remembered(use.digest),
        "body": use.body,
        keys.TTL_ATTRIBUTE: clock.expiry(KEPT_DAYS),
    }


def is_unfinished(item: Item) -> bool:
    """Return whether an item of the table is the record of a request that has no answer yet."""
    digest = item[keys.SK]
    is_record = digest != keys.JOB and keys.parse_remembered(digest) == digest
    return keys.is_request(item[keys.PK]) and is_record and "parts" not in item


def finished_in(state: Item) -> dict[int, Mapping[str, Any]]:
    """Return the results of the operations that the attempts at a batch have finished, by operation."""
    if _FINISHED not in state:
        return {}
    return {int(at): result for at, result in json.loads(zlib.decompress(state[_FINISHED])).items()}


def with_finished(state: Item, results: Mapping[int, Mapping[str, Any]]) -> Item:
    """Return the state with these results: some bytes for each, compressed."""
    if not results:
        return state
    return {**state, _FINISHED: zlib.compress(dumps({str(at): result for at, result in results.items()}))}


def answered(state: Item, answer: Answer) -> list[Item]:
    """Return the items of a record with its answer: the state with as much as fits an item, and then the
    other parts.
    """
    packed = zlib.compress(answer.body)
    first, *rest = [packed[at : at + _PART_BYTES] for at in range(0, len(packed), _PART_BYTES)]
    content = {"status": answer.status, "headers": dict(answer.headers), "answer": first, "parts": len(rest)}
    base = {name: state[name] for name in (keys.PK, keys.TTL_ATTRIBUTE)}
    parts = [{**base, keys.SK: _part(state, place), "answer": part} for place, part in enumerate(rest)]
    kept = {name: value for name, value in state.items() if name != _FINISHED}
    return [{**kept, **content}, *parts]


def _part(state: Item, place: int) -> str:
    return keys.remembered_part(state[keys.SK], state.get("lease", 0), place)

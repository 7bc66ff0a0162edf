"""What an undo has done, and how it answers. Pure."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from gridview.encoding.consistency import DELETED
from gridview.support.errors import MAX_PROBLEM_BYTES, HistoryNotReady, RequestError, problem

_PROBLEM_BYTES = 600_000
"""Bytes of all problems in an answer, each of which has an equal share."""


class TakenBack(NamedTuple):
    """The outcome for an issue: its version now, if anything was taken back or nothing was left to; and why
    not all of it was.

    `wrote`: the undo has made a version of it, now or in an earlier attempt.
    """

    num: int
    version: int | None
    refused: RequestError | None
    deleted: bool = False
    wrote: bool = False


def has_written(results: Iterable[TakenBack]) -> bool:
    """Return whether there is anything that an undo of this undo could take back."""
    return any(one.wrote for one in results)


def late_in(results: Iterable[TakenBack]) -> RequestError | None:
    """Return a refusal that passes once the history holds all of the change; None: there is none."""
    return next((one.refused for one in results if isinstance(one.refused, HistoryNotReady)), None)


def answer_of(results: Sequence[TakenBack], change: UUID) -> dict[str, Any]:
    """Return the answer of an undo: the issues of which anything was taken back, and the issues of which
    something was not.

    `change`: the change that its writes are part of; null in the answer if there are none.
    """
    refused = [one for one in results if one.refused is not None]
    room = min(MAX_PROBLEM_BYTES, _PROBLEM_BYTES // max(len(refused), 1))
    return {
        "undone": [{"num": one.num, "version": one.version} for one in results if one.version is not None],
        "change": str(change) if has_written(results) else None,
        "refused": [
            {"num": one.num, "problem": problem(one.refused, room)} for one in refused if one.refused
        ],
    }


def versions_written(results: Iterable[TakenBack]) -> dict[int, int]:
    """Return the issues of which anything was taken back, each with its version then, or DELETED."""
    return {one.num: DELETED if one.deleted else one.version for one in results if one.version is not None}

"""`./dev dlq`: list what the stream consumer could not derive, derive it once the cause is gone, or drop it.

A dead letter names an issue from which nothing could be derived. A failed batch holds the records that the stream's
mapping gave up. A redrive derives the index of these issues again from their present documents. So later writes, the
order of redrives and the age of a letter do not matter. First it writes the history of a batch and the list of deleted
issues, unless the consumer has done so. A letter or batch is deleted only afterwards: after a kill in between, the next
redrive repeats the work.

A drop deletes letters and batches and derives nothing. `./dev fsck` still finds the errors that it leaves.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from devtools.aws_failures import reported
from devtools.failure import Failure
from devtools.operate import target
from devtools.operate.target import Target
from gridview.derive.work import Superseded
from gridview.fsck import repair
from gridview.maintenance import stream_consumer, waiting
from gridview.schema.store import Catalogs
from gridview.support.concurrency import chunked
from gridview.support.errors import Overloaded

if TYPE_CHECKING:
    from types_boto3_sqs.type_defs import MessageTypeDef

_AT_ONCE = 10
"""Letters that SQS returns in one call."""
_HIDDEN_SECONDS = 300
"""Seconds for which a received letter is invisible to others: more than it takes to repair ten issues."""
_WAIT_SECONDS = 1
"""Seconds in which SQS asks all of its servers for letters. Without a wait it asks only some and may find none."""
_ID = 36
"""The last characters of a failed batch's name, a UUID, are its id."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `./dev dlq`."""
    parser.description = __doc__
    commands = parser.add_subparsers(metavar="list|redrive|drop", required=True)
    listing = commands.add_parser("list", help="list dead letters and failed batches, oldest batches last")
    target.register(listing)
    listing.set_defaults(does=_list)
    for name, does, summary in (
        ("redrive", _redrive, "derive the index of their issues again, then delete them"),
        ("drop", _drop, "delete them without deriving the index again"),
    ):
        deleting = commands.add_parser(name, help=summary)
        deleting.add_argument(
            "ids", metavar="ID", nargs="*", help="id of a letter or batch, as list shows it"
        )
        deleting.add_argument("--all", action="store_true", help=f"{name} all of them")
        target.register(deleting)
        deleting.set_defaults(does=does)


@reported()
def run(args: argparse.Namespace) -> int:
    """Run the subcommand. Returns 1 if a redrive left something."""
    status: int = args.does(args)
    return status


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter. `key` is empty when the message is no dead letter of gridview."""

    id: str
    receipt: str
    sent: str
    key: str
    version: int
    error: str

    @classmethod
    def of(cls, message: "MessageTypeDef") -> Self:
        """From what SQS gave."""
        milliseconds = int(message.get("Attributes", {}).get("SentTimestamp", "0"))
        sent = datetime.fromtimestamp(milliseconds / 1000, UTC)
        key, version, error = _body(message.get("Body", ""))
        return cls(
            message["MessageId"], message["ReceiptHandle"], f"{sent:%Y-%m-%dT%H:%M:%SZ}", key, version, error
        )


def _body(text: str) -> tuple[str, int, str]:
    try:
        body = json.loads(text)
        return str(body["key"]), int(body["version"]), str(body["error"])
    except (KeyError, TypeError, ValueError):
        return "", 0, "This is not a dead letter of gridview."


@dataclass(frozen=True, slots=True)
class Batch:
    """A failed batch: the time of the failure, its content, and the highest version of each of its issues."""

    name: str
    failed: str
    content: waiting.Batch
    issues: dict[str, int]

    @property
    def id(self) -> str:
        """The id that people use."""
        return self.name[-_ID:]

    @classmethod
    def of(cls, name: str, content: bytes) -> Self:
        """Read what Lambda or the local stack kept. ValueError when it is something else or lacks its records."""
        try:
            batch, failed = waiting.Batch.of(content), str(json.loads(content)["timestamp"])
        except KeyError as error:
            raise ValueError(f"no {error}") from error
        issues: dict[str, int] = {}
        for record in batch.records:
            key, version = waiting.key_of(record), _version(record["dynamodb"])
            issues[key] = max(version, issues.get(key, 0))
        return cls(name, failed, batch, issues)


def _version(stream: Mapping[str, Any]) -> int:
    """The version in a record; 0 when it cannot be read."""
    image = stream.get("NewImage") or stream.get("OldImage") or {}
    try:
        return int(image["version"]["N"])
    except (KeyError, TypeError, ValueError):
        return 0


class Queue:
    """The dead letters, one after the other. Letters that are not deleted are given back at the end."""

    def __init__(self, opened: Target) -> None:
        self._client, self._url = opened.queue, opened.queue_url
        self._held: dict[str, str] = {}

    @classmethod
    @contextmanager
    def opened(cls, opened: Target) -> Iterator[Self]:
        """The queue, for the time of a `with` block."""
        queue = cls(opened)
        try:
            yield queue
        finally:
            queue._give_back()

    def letters(self) -> Iterator[list[Letter]]:
        """All letters, each once, a few at a time."""
        again = 0
        # SQS delivers at least once, and held letters again when they have been hidden for long enough. Others may
        # still wait, unless as many have come again as are held.
        while again <= len(self._held) and (received := self._receive()):
            fresh = [letter for letter in received if letter.id not in self._held]
            self._held |= {letter.id: letter.receipt for letter in received}
            again = 0 if fresh else again + len(received)
            if fresh:
                yield fresh

    def _receive(self) -> list[Letter]:
        answer = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=_AT_ONCE,
            VisibilityTimeout=_HIDDEN_SECONDS,
            WaitTimeSeconds=_WAIT_SECONDS,
            MessageSystemAttributeNames=["SentTimestamp"],
        )
        return [Letter.of(message) for message in answer.get("Messages", [])]

    def delete(self, letter: Letter) -> None:
        """Delete a letter."""
        self._client.delete_message(QueueUrl=self._url, ReceiptHandle=self._held.pop(letter.id))

    def _give_back(self) -> None:
        for receipt in self._held.values():
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt, VisibilityTimeout=0
            )


def _batches(opened: Target) -> Iterator[tuple[str, Batch | str]]:
    """The name of each failed batch, with the batch or the reason why it cannot be read."""
    for name in sorted(opened.batches.names(), reverse=True):
        content = opened.batches.read(name)
        if content is None:
            continue
        try:
            yield name, Batch.of(name, content)
        except ValueError as error:
            yield name, f"This is not a failed batch with its records ({error})."


def _list(args: argparse.Namespace) -> int:
    opened = target.open(args)
    letters = batches = 0
    with Queue.opened(opened) as queue:
        for some in queue.letters():
            for letter in some:
                letters += 1
                print(
                    f"{letter.id}  {letter.sent}  letter  {letter.key} version {letter.version}: {letter.error}"
                )
    for name, batch in _batches(opened):
        batches += 1
        if isinstance(batch, str):
            print(f"{name[-_ID:]}  {name}: {batch}")
        else:
            when = batch.failed[: len("2024-01-01T00:00:00")] + "Z"
            about = f"{len(batch.content.records):,} records of {len(batch.issues):,} issues"
            print(f"{batch.id}  {when}  batch   {about}: {batch.content.reason}")
    print(f"{letters:,} dead letters and {batches:,} failed batches in {opened.label}.")
    return 0


def _redrive(args: argparse.Namespace) -> int:
    wanted = _wanted(args)
    redrive = Redrive(target.open(args))
    seen = redrive.letters(wanted) | redrive.batches(wanted)
    print(f"{redrive.done:,} redriven, {redrive.left:,} left.")
    _require_all(wanted, seen)
    return 1 if redrive.left else 0


def _drop(args: argparse.Namespace) -> int:
    wanted = _wanted(args)
    opened = target.open(args)
    seen = _drop_letters(opened, wanted) | _drop_batches(opened, wanted)
    print(f"{len(seen):,} dropped.")
    _require_all(wanted, seen)
    return 0


def _wanted(args: argparse.Namespace) -> set[str] | None:
    """The ids that a command names; None for all."""
    if args.all == bool(args.ids):
        raise Failure("Name ids as ./dev dlq list shows them, or --all.")
    return None if args.all else set(args.ids)


def _require_all(wanted: set[str] | None, seen: set[str]) -> None:
    if wanted is not None and wanted - seen:
        raise Failure(
            f"There is no {', '.join(sorted(wanted - seen))}, or another command holds it. Try again in a few minutes."
        )


def _drop_letters(opened: Target, wanted: set[str] | None) -> set[str]:
    """Delete those of these ids, or all; returns the ids of those it found."""
    seen = set()
    with Queue.opened(opened) as queue:
        for letter in (letter for some in queue.letters() for letter in some):
            if wanted is None or letter.id in wanted:
                queue.delete(letter)
                seen.add(letter.id)
                print(f"{letter.id}  dropped  {letter.key} version {letter.version}: {letter.error}")
    return seen


def _drop_batches(opened: Target, wanted: set[str] | None) -> set[str]:
    """Delete those of these ids, or all, whether they can be read or not; returns the ids of those it found."""
    seen = set()
    for name, batch in _batches(opened):
        if wanted is None or name[-_ID:] in wanted:
            opened.batches.remove(name)
            seen.add(name[-_ID:])
            about = (
                name if isinstance(batch, str) else f"{len(batch.issues):,} issues: {batch.content.reason}"
            )
            print(f"{name[-_ID:]}  dropped  {about}")
    return seen


class Redrive:
    """Redrives letters and batches, and prints the outcome of each."""

    def __init__(self, opened: Target) -> None:
        self._opened = opened
        self._catalogs = Catalogs()
        self.done = 0
        self.left = 0

    def letters(self, wanted: set[str] | None) -> set[str]:
        """Redrive the letters of these ids, or all; returns the ids that it found."""
        seen = set()
        with Queue.opened(self._opened) as queue:
            for some in queue.letters():
                chosen = [letter for letter in some if wanted is None or letter.id in wanted]
                hints: dict[str, int] = {}
                for letter in chosen:
                    hints[letter.key] = max(letter.version, hints.get(letter.key, 0))
                reasons = self._repair(hints)
                for letter in chosen:
                    reason = reasons[letter.key]
                    seen.add(letter.id)
                    if reason is None:
                        queue.delete(letter)
                    self._say(letter.id, letter.key, [] if reason is None else [reason])
        return seen

    def batches(self, wanted: set[str] | None) -> set[str]:
        """Redrive the batches of these ids, or all; returns the ids that it found."""
        seen = set()
        for name, batch in _batches(self._opened):
            if wanted is not None and name[-_ID:] not in wanted:
                continue
            seen.add(name[-_ID:])
            if isinstance(batch, str):
                self._say(name[-_ID:], name, [f"{batch} Repair the index without it: ./dev fsck --repair."])
                continue
            wrong = self._derive(batch)
            if not wrong:
                self._opened.batches.remove(name)
            self._say(batch.id, f"{len(batch.issues):,} issues", wrong)
        return seen

    def _derive(self, batch: Batch) -> list[str]:
        """Write the history of a batch, then repair its issues; returns the errors. In this order: readers of the feed look
        for the history of a version that the index has.

        Records of a table that a restore replaced are passed over.
        """
        table = self._opened.table
        own = batch.content.of_table(table.name)
        try:
            stream_consumer.record_again(table, self._catalogs, own)
        except Overloaded as error:
            return [str(_reason(error))]
        # The consumer may have crashed here too.
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            return [f"Its history cannot be written: {type(error).__name__}: {error}."]
        reasons = self._repair({key: batch.issues[key] for key in own.keys})
        return [f"{key}: {reason}" for key, reason in reasons.items() if reason is not None]

    def _repair(self, versions: Mapping[str, int]) -> dict[str, str | None]:
        """By key, why an issue cannot be repaired; None if it is. `versions`: one that each is known to have had."""
        reasons: dict[str, str | None] = {}
        for some in chunked(versions.items(), _AT_ONCE):
            done = repair.repair_issues(self._opened.table, self._catalogs, dict(some))
            reasons |= {key: _reason(outcome) for key, outcome in done.items()}
        return reasons

    def _say(self, name: str, about: str, wrong: Sequence[str]) -> None:
        if wrong:
            self.left += 1
            for reason in wrong:
                print(f"{name}  left      {about}: {reason}")
        else:
            self.done += 1
            print(f"{name}  redriven  {about}")


def _reason(outcome: bool | Exception) -> str | None:
    if not isinstance(outcome, Exception):
        return None
    return "The table is busy; try again." if isinstance(outcome, Overloaded | Superseded) else str(outcome)

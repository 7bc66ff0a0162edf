"""Up to 500 creates, updates and deletes in one call. Each is atomic by itself."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

from gridview.commands import issues
from gridview.commands.actor import Actor
from gridview.commands.attempts import Attempt
from gridview.commands.conflicts import merged_fields
from gridview.commands.context import WriteContext
from gridview.commands.marks import Mark
from gridview.commands.preconditions import Expected
from gridview.commands.requests import BatchRequest, DeleteOperation, UpdateOperation
from gridview.dynamodb.expressions import Key
from gridview.dynamodb.table import Table
from gridview.encoding.consistency import DELETED
from gridview.encoding.json_codec import dumps, size_in_response
from gridview.schema import documents, ids
from gridview.schema.catalog import Catalog
from gridview.schema.document_store import issue_key
from gridview.schema.documents import Changes, Document
from gridview.schema.fields import UnknownOption
from gridview.schema.trash import living
from gridview.support.concurrency import in_threads
from gridview.support.errors import (
    MAX_PROBLEM_BYTES,
    PROBLEMS,
    Conflict,
    NotFound,
    Overloaded,
    RequestError,
    TooLarge,
    problem,
    problem_type,
)
from gridview.support.validation import parse

MAX_ANSWER_BYTES = 5_000_000
"""Bytes of all issues in an answer. Lambda limits an answer to 6 MB. A minimal answer has none, and its 500
results take 30 KB.
"""
_PROBLEM_BYTES = 600_000
"""Bytes of all problems in an answer, each of which has an equal share. As part of a response a byte can
become two.
"""
_CONCURRENCY = 16
_TRANSIENT = PROBLEMS[Overloaded].status


OperationStep = Callable[[], dict[str, Any]]
"""Does an operation and returns its result."""


class _Budget:
    """Reserves room in the answer for each result. An operation whose result does not fit is refused before
    it writes.
    """

    def __init__(self) -> None:
        self._taken: dict[int, int] = {}
        self._held: set[int] = set()
        self._lock = threading.Lock()

    def hold(self, place: int, size: int) -> None:
        """Reserve room for a result that will be in the answer in any case."""
        with self._lock:
            self._held.add(place)
            self._taken[place] = size

    def reserve(self, place: int, size: int) -> None:
        """Reserve room for an operation's result, in place of any earlier reservation. TooLarge if there is none."""
        with self._lock:
            if place in self._held:
                return
            others = sum(self._taken.values()) - self._taken.get(place, 0)
            if others + size > MAX_ANSWER_BYTES:
                raise TooLarge("The answer would be larger than 5 MB. Send fewer operations in one batch.")
            self._taken[place] = size

    def release(self, place: int) -> None:
        """Free the room of an operation that ended in a problem."""
        with self._lock:
            self._taken.pop(place, None)


def parse_batch(body: Any) -> BatchRequest:
    """Parse a request, checking only the form of its operations. InvalidRequest if it is wrong."""
    return parse(BatchRequest, body)


def run_batch(
    table: Table,
    catalog: Catalog,
    actor: Actor,
    request: BatchRequest,
    change: UUID | None,
    attempt: Attempt | None,
) -> dict[str, Any]:
    """Return the results in the order of the operations: status and issue (or only its version), or status
    and problem.

    Operations on the same issue run in the given order, all others in parallel. If one may succeed later, those
    after it on the same issue wait for it. One call reserves the numbers of all new issues. With an `attempt`
    (`attempts`), work done by an earlier attempt is recognised and not repeated. The attempt stays open if an
    operation failed that may succeed later.
    """
    results = _Batch(WriteContext(table, catalog, actor, change), request, attempt).run()
    if attempt and any(result["status"] == _TRANSIENT for result in results):
        attempt.leave_open()
    return {"results": results}


def versions_written(request: BatchRequest, results: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return the issues that the operations of a batch have written, each with its version then, or DELETED."""
    found: dict[int, int] = {}
    for operation, result in zip(request.operations, results, strict=True):
        if "problem" in result:
            continue
        if operation.delete is not None:
            found[operation.delete.num] = DELETED
        else:
            issue = result.get("issue", result)
            num = operation.update.num if operation.update is not None else issue["num"]
            found[num] = issue["version"]
    return found


class _Batch:
    def __init__(self, context: WriteContext, request: BatchRequest, attempt: Attempt | None) -> None:
        self._context = context
        self._table = context.table
        self._catalog = context.catalog
        self._attempt = attempt
        self._finished = dict(attempt.finished) if attempt else {}
        self._operations = request.operations
        self._minimal = request.returning == "minimal"
        self._budget = _Budget()
        self._problem_bytes = min(MAX_PROBLEM_BYTES, _PROBLEM_BYTES // len(request.operations))

    def run(self) -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = [{} for _ in self._operations]
        lanes = self._lanes(results)
        self._hold_room({place: num for num, lane in lanes.items() for place, _ in lane})
        for place, result in self._finished_results():
            results[place] = result

        def run_lane(lane: list[tuple[int, OperationStep]]) -> None:
            waiting = False
            for place, step in lane:
                results[place] = self._attempted(place, _wait if waiting else step)
                waiting = waiting or results[place]["status"] == _TRANSIENT

        in_threads(run_lane, lanes.values(), _CONCURRENCY)
        return results

    def _lanes(self, results: list[dict[str, Any]]) -> dict[int, list[tuple[int, OperationStep]]]:
        """Return the operations to do, by issue and in order. Adds the results of creates that are refused before that."""
        lanes: dict[int, list[tuple[int, OperationStep]]] = defaultdict(list)
        new: dict[int, Changes] = {}
        for place, operation in enumerate(self._operations):
            if operation.create is not None:
                results[place] = self._attempted(
                    place, partial(self._check_create, place, operation.create, new)
                )
            elif place in self._finished:
                continue
            elif operation.update is not None:
                lanes[operation.update.num].append((place, partial(self._update, place, operation.update)))
            elif operation.delete is not None:
                lanes[operation.delete.num].append((place, partial(self._delete, place, operation.delete)))
        try:
            for num, (place, changes) in zip(self._numbers(len(new)), new.items(), strict=True):
                if place not in self._finished:
                    lanes[num].append((place, partial(self._create, place, num, changes)))
        except RequestError as error:
            for place in new:
                results[place] = self._refused(error)
        return lanes

    def _numbers(self, count: int) -> Iterable[int]:
        if not count:
            return ()
        reserve = partial(issues.reserve_numbers, self._table, self._catalog, count)
        numbers = self._attempt.numbers(reserve) if self._attempt else reserve()
        if len(numbers) != count:
            # Another catalog makes other creates valid, so their numbers would differ from the first
            # attempt's.
            raise Conflict(
                "The project's definitions have changed since the first attempt at this request. Read what was "
                "written, then send the rest under a new Idempotency-Key."
            )
        return numbers

    def _hold_room(self, numbers: Mapping[int, int]) -> None:
        """Reserve room for the writes of an earlier attempt first, by place: they are in the answer in any
        case.
        """
        if self._attempt is None or not self._attempt.again or (self._minimal and not self._based()):
            return
        known = [(place, num) for place, num in numbers.items() if ids.ISSUE.fullmatch(str(num))]
        keys = {place: issue_key(self._catalog, num) for place, num in known}
        marked = self._table.batch_get(list(keys.values()), consistent=True, paths=[("mark",)]).items
        attempt = self._attempt
        done = {
            place: key
            for place, key in keys.items()
            if attempt.mark(place).is_done(marked.get(key, {}).get("mark"))
        }
        found = self._table.batch_get(list(done.values()), consistent=True).items
        for place, key in done.items():
            # Documents that are gone since, or newer than the definitions, are not in the answer either.
            with suppress(KeyError, UnknownOption):
                document, update = found[key], self._operations[place].update
                merged = None
                if update is not None:
                    changes = documents.parse_patch(self._catalog, update.model_extra or {})
                    merged = merged_fields(self._catalog, document, changes)
                self._budget.hold(place, self._size(issues.Updated(document, merged)))

    def _finished_results(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Return the results of operations that an earlier attempt has finished, and hold room for them. They have the
        issues as they are now, or only versions of issues that are gone.
        """
        keys: dict[int, Key] = {}
        for place, result in self._finished.items():
            update = self._operations[place].update
            if not self._minimal and "version" in result:
                num = result["num"] if update is None else update.num
                keys[place] = issue_key(self._catalog, num)
        found = self._table.batch_get(list(keys.values()), consistent=True).items if keys else {}
        for place, result in self._finished.items():
            document = living(found.get(keys[place])) if place in keys else None
            try:
                shown = self._shown(result, document)
            except UnknownOption:
                shown = dict(result)
            self._budget.hold(place, size_in_response(dumps(shown)))
            yield place, shown

    def _based(self) -> bool:
        """Return whether any result may list merged fields."""
        return any("base" in (one.update.model_extra or {}) for one in self._operations if one.update)

    def _check_create(self, place: int, body: dict[str, Any], new: dict[int, Changes]) -> dict[str, Any]:
        new[place] = issues.parse_new(self._catalog, body)
        return {}

    def _create(self, place: int, num: int, changes: Changes) -> dict[str, Any]:
        written = issues.write_new(
            self._context,
            num,
            changes,
            mark=self._mark(place),
            again=self._attempt is not None and self._attempt.again,
            guard=self._reserve(place),
        )
        return self._written(place, {"status": 201, "num": num}, issues.Updated(written))

    def _update(self, place: int, operation: UpdateOperation) -> dict[str, Any]:
        written = issues.update_issue(
            self._context,
            operation.num,
            operation.model_extra or {},
            _expected(operation.version),
            mark=self._mark(place),
            guard=self._reserve(place),
        )
        return self._written(place, {"status": 200}, written)

    def _delete(self, place: int, operation: DeleteOperation) -> dict[str, Any]:
        try:
            issues.delete_issue(
                self._context,
                operation.num,
                _expected(operation.version),
            )
        except NotFound:
            if self._attempt is None or not self._attempt.again:
                raise
        return self._finish(place, {"status": 204})

    def _mark(self, place: int) -> Mark | None:
        return self._attempt.mark(place) if self._attempt else None

    def _reserve(self, place: int) -> issues.Guard:
        """Reserve room in the answer for the document about to be written; repeated when a write has lost a race."""

        def reserve(updated: issues.Updated) -> None:
            self._budget.reserve(place, self._size(updated))

        return reserve

    def _size(self, updated: issues.Updated) -> int:
        answer = {} if self._minimal else documents.to_json(self._catalog, updated.document)
        merged = updated.merged or []
        return size_in_response(dumps([answer, merged])) if answer or merged else 0

    def _attempted(self, place: int, step: OperationStep) -> dict[str, Any]:
        try:
            return step()
        except UnknownOption:
            refused: RequestError = Overloaded("The project's definitions are changing. Try again.")
        except RequestError as error:
            refused = error
        self._budget.release(place)
        return self._refused(refused)

    def _refused(self, error: RequestError) -> dict[str, Any]:
        return {"status": problem_type(error).status, "problem": problem(error, self._problem_bytes)}

    def _written(self, place: int, result: dict[str, Any], updated: issues.Updated) -> dict[str, Any]:
        merged = {} if updated.merged is None else {"merged": updated.merged}
        document = updated.document
        return self._shown(
            self._finish(place, {**result, "version": document["version"], **merged}), document
        )

    def _finish(self, place: int, result: dict[str, Any]) -> dict[str, Any]:
        if self._attempt:
            self._attempt.finish(place, result)
        return result

    def _shown(self, result: Mapping[str, Any], document: Document | None) -> dict[str, Any]:
        """Return the result of a write as the answer has it, from its minimal form."""
        if self._minimal or document is None:
            return dict(result)
        issue = documents.to_json(self._catalog, document)
        merged = {name: value for name, value in result.items() if name == "merged"}
        return {"status": result["status"], "issue": issue, **merged}


def _wait() -> dict[str, Any]:
    raise Overloaded(
        "An operation before it on the same issue failed, and may succeed later. Try both again."
    )


def _expected(version: int | None) -> Expected:
    return None if version is None else frozenset({version})

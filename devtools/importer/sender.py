"""Sends batches, several at a time, each exactly once in effect."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Final, NamedTuple

import httpx

from devtools.failure import Failure
from devtools.importer.batches import Batch, Refusal, body
from devtools.importer.client import Api, RefusedError, is_transient

_ROUNDS: Final = 10
"""How often operations are sent that had no room in the answer."""

_TRIES: Final = 10
"""How often a batch is sent of which the API could not do a part for the moment."""


class Outcome(NamedTuple):
    """The outcome of the rows of a batch."""

    batch: Batch
    created: int
    refused: list[Refusal]


def deliver(api: Api, project: str, import_id: str, columns: Mapping[str, str], batch: Batch) -> Outcome:
    """Send a batch until each of its operations is done or refused.

    `columns`: by field id, for the reasons of refusals.

    The Idempotency-Key is made from the import, the batch and the round, and the API does nothing twice under the same
    key. A second run goes through the same rounds and creates nothing twice.
    """
    pending = list(zip(batch.operations, batch.sent, strict=True))
    refused = list(batch.refused)
    created = batch.existing
    for round_number in range(_ROUNDS):
        if not pending:
            break
        key = f"{import_id}-{batch.name}-{round_number}"
        without_room = []
        for (operation, row), result in zip(pending, _results(api, project, key, pending), strict=True):
            if result["status"] == httpx.codes.CREATED:
                created += 1
            elif result["status"] == httpx.codes.REQUEST_ENTITY_TOO_LARGE and len(pending) > 1:
                # The answer would not have held this one too; there is room in the next.
                without_room.append((operation, row))
            else:
                refused.append(_refusal(row.number, dict(row.cells), result["problem"], columns))
        pending = without_room
    if pending:
        raise _unfinished()
    return Outcome(batch, created, refused)


def send_all(
    batches: Iterable[Batch],
    send: Callable[[Batch], Outcome],
    done: Callable[[Outcome], None],
    *,
    workers: int,
    cancel: Callable[[], None],
) -> None:
    """Send all batches, `workers` at a time, with one more in memory. Calls `done` for one batch at a time.

    After an error or an interrupt it sends nothing more, `cancel` ends the waits, and acknowledged batches still count before
    the error goes on.
    """
    flying: set[Future[Outcome]] = set()

    def settle(futures: Iterable[Future[Outcome]]) -> None:
        for future in list(futures):
            flying.discard(future)
            done(future.result())

    with ThreadPoolExecutor(workers, thread_name_prefix="sender") as pool:
        try:
            for batch in batches:
                flying.add(pool.submit(send, batch))
                if len(flying) > workers:
                    settle(wait(flying, return_when=FIRST_COMPLETED).done)
            settle(wait(flying).done)
        except BaseException:
            cancel()
            for future in flying:
                future.cancel()
            settle([one for one in wait(flying).done if not one.cancelled() and one.exception() is None])
            raise


def _results(api: Api, project: str, key: str, pending: list[Any]) -> list[dict[str, Any]]:
    """The result of each operation.

    A batch of which a part failed for the moment is sent again under its own key. The API does not remember such an
    answer, and completes the batch. Under another key a second run could repeat that part.
    """
    for attempt in range(_TRIES):
        if attempt:
            api.pause(attempt)
        results = _answered(api, project, key, pending)
        if not any(is_transient(result["status"]) for result in results):
            return results
    raise _unfinished()


def _answered(api: Api, project: str, key: str, pending: list[Any]) -> list[dict[str, Any]]:
    try:
        answer = api.post(
            f"/v1/projects/{project}/issues/batch", body(operation for operation, _ in pending), key=key
        )
    except RefusedError as refused:
        raise Failure(f"The API refuses a batch: {refused}") from refused
    results = answer["results"]
    if len(results) != len(pending):
        raise Failure("The answer of the API has another number of operations than the request.")
    return list(results)


def _unfinished() -> Failure:
    return Failure("The API keeps refusing parts of a batch for now; run the same command again to continue.")


def _refusal(
    row: int, values: dict[str, Any], problem: dict[str, Any], columns: Mapping[str, str]
) -> Refusal:
    errors = problem.get("errors", [])
    faults = [f"{_column(error['field'], columns)} {error['message']}" for error in errors]
    reason = "; ".join(faults) or str(problem.get("detail") or problem.get("title"))
    return Refusal(row, reason, values, errors)


def _column(path: str, columns: Mapping[str, str]) -> str:
    """The column of the field that an error is about, such as `fields.cost.0`; the path if it is none."""
    parts = path.split(".")
    key = parts[parts.index("fields") + 1] if "fields" in parts[:-1] else parts[-1]
    return columns.get(key, path)

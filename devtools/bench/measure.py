"""Measurements of the handlers: pages, writes, and issues a second."""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from devtools.bench import issues
from devtools.bench.functions import Functions, event, record
from devtools.bench.work import Work, worked
from devtools.failure import Failure
from gridview.commands.actor import Actor
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_to_wire
from gridview.schema.catalog import Catalog
from gridview.support.concurrency import chunked
from infra.limits import BATCH_SIZE

ROWS: Final = 100
_ROWS_BEFORE: Final = 10
"""Few, so that the page after them is full and of one kind even in the smallest project."""
_WARM_UP: Final = 10
_WRITES: Final = 20
_BATCH: Final = 500
_MOST_WRITTEN: Final = 1_000

ACCEPTED: Final = "accepted by the API"
CONSUMED_NEW: Final = "consumer: new issues"
CONSUMED_EDITS: Final = "consumer: edits of one field"

PAGES: Final[Mapping[str, Mapping[str, Any]]] = {
    "by number": {},
    "by date": {"sort": [{"field": issues.DATE}]},
    "by text": {"sort": [{"field": issues.TEXT}]},
    "null tail": {"sort": [{"field": issues.SPARSE, "nulls": "first"}]},
}
"""The second page of each is measured, which a cursor leads to."""


@dataclass(slots=True)
class Page:
    """One kind of page of one project. `milliseconds` and `cpu_milliseconds` are medians of the handler's wall and CPU time."""

    rows: int
    sequential_calls: int
    read_units: float
    milliseconds: float
    cpu_milliseconds: float


@dataclass(slots=True)
class Writes:
    """Write units of one write and of all that the consumer writes for it, without its fold: means, since issues differ in size."""

    create: float
    edit: float
    delete: float


@dataclass(slots=True)
class _Samples:
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    units: list[float] = field(default_factory=list)
    rows: int = 0


def pages(
    functions: Functions, actor: Actor, projects: Sequence[str], repeat: int
) -> dict[str, dict[str, Page]]:
    """Project -> kind of page -> its figures. Projects and kinds take turns, so that all see the same engine and machine."""
    wanted = {
        (project, kind): _second_page(functions, actor, project, query)
        for project in projects
        for kind, query in PAGES.items()
    }
    samples = {key: _Samples() for key in wanted}
    for turn in range(_WARM_UP + repeat):
        for key, request in wanted.items():
            _sample(functions, request, samples[key], keep=turn >= _WARM_UP)
    return {project: {kind: _page(samples[project, kind]) for kind in PAGES} for project in projects}


def writes(functions: Functions, actor: Actor, table: Table, catalog: Catalog) -> Writes:
    """Create issues one at a time, change a field of each, delete them; after each call, the consumer does its part."""
    path = f"/v1/projects/{catalog.project}/issues"
    created, edited, deleted = [], [], []
    for place, body in enumerate(issues.bodies(_WRITES, seed=1)):
        with functions.metered() as units:
            num = functions.command(event(actor, "POST", path, body))["num"]
            first = image(table, catalog, num)
            functions.maintain([record(None, first, 1)])
        created.append(units.write)
        with functions.metered() as units:
            functions.command(
                event(actor, "PATCH", f"{path}/{num}", {"fields": {issues.NUMBER: 10_000_000 + place}})
            )
            second = image(table, catalog, num)
            functions.maintain([record(first, second, 2)])
        edited.append(units.write)
        with functions.metered() as units:
            functions.command(event(actor, "DELETE", f"{path}/{num}"))
            functions.maintain([record(second, image(table, catalog, num), 3)])
        deleted.append(units.write)
    return Writes(statistics.mean(created), statistics.mean(edited), statistics.mean(deleted))


def streams(functions: Functions, actor: Actor, table: Table, catalog: Catalog, size: int) -> dict[str, Work]:
    """Create half as many issues as there are, at most 1,000, and change an indexed field of each.

    They are created by batch calls of 500, one after the other. After each of the two steps their stream records are
    consumed, in batches as large as Lambda makes them.
    """
    count = min(size // 2, _MOST_WRITTEN)
    created, accepted = _accepted(
        functions, actor, catalog, [{"create": body} for body in issues.bodies(count, seed=2)]
    )
    numbers = [result["issue"]["num"] for result in created]
    new = images(table, catalog, numbers)
    consumed_new = _consumed(functions, [record(None, image, at) for at, image in enumerate(new, 1)])
    edits = [
        {"update": {"num": num, "fields": {issues.NUMBER: 20_000_000 + place}}}
        for place, num in enumerate(numbers)
    ]
    _accepted(functions, actor, catalog, edits)
    edited = images(table, catalog, numbers)
    records = [record(*images, at) for at, images in enumerate(zip(new, edited, strict=True), count + 1)]
    return {
        ACCEPTED: accepted,
        CONSUMED_NEW: consumed_new,
        CONSUMED_EDITS: _consumed(functions, records),
    }


def image(table: Table, catalog: Catalog, num: int) -> dict[str, Any]:
    """An issue as the stream would hold it."""
    return images(table, catalog, [num])[0]


def _accepted(
    functions: Functions, actor: Actor, catalog: Catalog, operations: Sequence[Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], Work]:
    path = f"/v1/projects/{catalog.project}/issues/batch"
    requests = [event(actor, "POST", path, {"operations": some}) for some in chunked(operations, _BATCH)]
    results: list[dict[str, Any]] = []

    def accept() -> None:
        for request in requests:
            results.extend(functions.command(request)["results"])

    work = worked(functions, len(operations), accept)
    if any("problem" in result for result in results):
        raise Failure("The command function refused an operation.")
    return results, work


def _consumed(functions: Functions, records: Sequence[Mapping[str, Any]]) -> Work:
    def consume() -> None:
        for some in chunked(records, BATCH_SIZE):
            functions.maintain(some)

    return worked(functions, len(records), consume)


def _second_page(
    functions: Functions, actor: Actor, project: str, query: Mapping[str, Any]
) -> dict[str, Any]:
    path = f"/v1/projects/{project}/grid"
    first = functions.query(event(actor, "POST", path, {**query, "limit": _ROWS_BEFORE}))
    return event(actor, "POST", path, {**query, "limit": ROWS, "explain": True, "cursor": first["next"]})


def _sample(functions: Functions, request: Mapping[str, Any], samples: _Samples, *, keep: bool) -> None:
    began, cpu_began = time.perf_counter(), time.process_time()
    answer = functions.query(request)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu_began
    samples.rows = len(answer["rows"])
    if not keep:
        return
    samples.wall.append(wall)
    samples.cpu.append(cpu)
    samples.calls.append(answer["explain"]["sequential_calls"])
    samples.units.append(answer["explain"]["read_units"])


def _page(samples: _Samples) -> Page:
    return Page(
        rows=samples.rows,
        sequential_calls=min(samples.calls),
        read_units=min(samples.units),
        milliseconds=statistics.median(samples.wall) * 1000,
        cpu_milliseconds=statistics.median(samples.cpu) * 1000,
    )


def images(table: Table, catalog: Catalog, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Issues as the stream would hold them."""
    partition = keys.project(catalog.tenant, catalog.project)
    wanted = [(keys.issue(catalog.tenant, catalog.project, num), partition) for num in numbers]
    found = table.batch_get(wanted, consistent=True).items
    if len(found) != len(wanted):
        raise Failure("An issue that was written is not there.")
    return [item_to_wire(found[key]) for key in wanted]

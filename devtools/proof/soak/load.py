"""The load of a soak: editors with issues of their own, jobs, imports, and projects for all of them."""

import csv
import random
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from devtools.failure import Failure
from devtools.proof.soak.client import Client
from devtools.proof.soak.stack import Stack

KINDS: Final = ("beam", "bolt", "plate")
STATES: Final = ("open", "doing", "done")
FIELDS: Final[Sequence[dict[str, Any]]] = (
    {"id": "qty", "name": "Quantity", "type": "number"},
    {"id": "cost", "name": "Cost", "type": "number"},
    {"id": "kind", "name": "Kind", "type": "enum", "options": [*KINDS]},
    {"id": "due", "name": "Due", "type": "date"},
    {"id": "note", "name": "Note", "type": "text"},
    {"id": "mark", "name": "Mark", "type": "number"},
    {"id": "total", "name": "Total", "type": "number", "formula": "ROUND({cost} * {qty}, 2)"},
)
"""`mark` is written by jobs, `total` is computed, and editors write the others."""

_ISSUES: Final = 400
"""Issues of an editor, deleted ones included: fewer are created first."""
_ROWS: Final = 300
_PAUSE: Final = 0.15
_PAUSE_OF_JOBS: Final = 20.0
_PAUSE_OF_IMPORTS: Final = 60.0
_ATTEMPTS: Final = 10
_IMPORT_SECONDS: Final = 300.0
"""An import that is stopped is repeated so long: a restart of the stack takes a minute or two on a busy machine."""


@dataclass(slots=True)
class OwnIssue:
    """An issue as its editor left it. `values`: name, state and fields; None of a field: no value."""

    values: dict[str, Any]
    deleted: bool = False


@dataclass(slots=True)
class Book:
    """What the load was answered. The threads of a project share it."""

    issues: dict[int, OwnIssue] = field(default_factory=dict)
    imported: dict[str, int] = field(default_factory=dict)
    """Imported projects, with their number of rows."""
    marks: int = 0
    done: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def make_project(client: Client, project: str) -> None:
    """Make a project of the soak, and wait until its fields have their indexes."""
    client.require("POST", "/v1/projects", {"id": project, "name": project, "states": [*STATES]})
    for one in FIELDS:
        client.require("POST", f"/v1/projects/{project}/attributes", one)
    while any(one["build"] for one in client.require("GET", f"/v1/projects/{project}")["attributes"]):
        time.sleep(_PAUSE)


class Editor:
    """Creates, changes, deletes, restores and undoes issues that no other editor writes."""

    def __init__(self, client: Client, project: str, book: Book, seed: int) -> None:
        self._client = client
        self._path = f"/v1/projects/{project}"
        self._book = book
        self._chance = random.Random(seed)  # noqa: S311
        self._own: list[int] = []

    def run(self, stop: threading.Event) -> None:
        """Write until the end."""
        while not stop.wait(_PAUSE):
            self._step()

    def _step(self) -> None:
        chance = self._chance
        if len(self._own) < _ISSUES and chance.random() < 0.4:
            self._create()
            return
        if not self._own:
            return
        num = chance.choice(self._own)
        issue = self._book.issues[num]
        if issue.deleted:
            if chance.random() < 0.3:
                self._restore(num, issue)
            return
        at = chance.random()
        if at < 0.75:
            self._edit(num, issue)
        elif at < 0.9:
            self._edit_and_undo(num, issue)
        else:
            self._delete(num, issue)

    def _create(self) -> None:
        values = {
            "name": f"Issue {self._chance.randrange(10**6)}",
            "state": self._chance.choice(STATES),
            **{field: self._value(field) for field in ("qty", "cost", "kind", "due", "note")},
        }
        made = self._client.require("POST", f"{self._path}/issues", _body(values), _once())
        self._book.issues[made["num"]] = OwnIssue(values)
        self._own.append(made["num"])
        self._book.done["created"] += 1

    def _edit(self, num: int, issue: OwnIssue) -> None:
        change = self._change(issue)
        self._patch(num, change)
        issue.values |= change
        self._book.done["edited"] += 1

    def _edit_and_undo(self, num: int, issue: OwnIssue) -> None:
        identity = str(uuid.uuid4())
        change = self._change(issue)
        self._patch(num, change, {"X-Change-Id": identity})
        before = {field: issue.values[field] for field in change}
        issue.values |= change
        headers = _once()
        for _ in range(_ATTEMPTS):
            answer = self._client.ask("POST", f"{self._path}/undo", {"change": identity}, headers)
            if answer.status != 409:
                break
            time.sleep(float(answer.headers.get("Retry-After", 1)))
        if answer.status != 200 or answer.body["refused"]:
            self._book.faults.append(
                f"the undo of {identity} of issue {num} answered {answer.status}: {answer.body}"
            )
            return
        issue.values |= before
        self._book.done["undone"] += 1

    def _delete(self, num: int, issue: OwnIssue) -> None:
        answer = self._client.ask("DELETE", f"{self._path}/issues/{num}")
        if answer.status not in (204, 404) or (answer.status == 404 and answer.first):
            self._book.faults.append(f"the delete of issue {num} answered {answer.status}: {answer.body}")
            return
        issue.deleted = True
        self._book.done["deleted"] += 1

    def _restore(self, num: int, issue: OwnIssue) -> None:
        answer = self._client.ask("POST", f"{self._path}/trash/{num}/restore", None, _once())
        if answer.status != 200:
            self._book.faults.append(f"the restore of issue {num} answered {answer.status}: {answer.body}")
            return
        issue.deleted = False
        self._book.done["restored"] += 1

    def _patch(self, num: int, change: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        answer = self._client.require("PATCH", f"{self._path}/issues/{num}", _body(change), headers)
        given = {"name": answer["name"], "state": answer["state"], **answer["fields"]}
        for name, value in change.items():
            if given.get(name) != value:
                self._book.faults.append(
                    f"the edit of issue {num} answered {name} = {given.get(name)!r}, not {value!r}"
                )

    def _change(self, issue: OwnIssue) -> dict[str, Any]:
        """One to three fields with other values."""
        change: dict[str, Any] = {}
        for name in self._chance.sample(
            ("name", "state", "qty", "cost", "kind", "due", "note"), self._chance.randint(1, 3)
        ):
            while (value := self._value(name)) == issue.values[name]:
                pass
            change[name] = value
        return change

    def _value(self, name: str) -> Any:
        chance = self._chance
        if name == "name":
            return f"Issue {chance.randrange(10**6)}"
        if name == "state":
            return chance.choice(STATES)
        if chance.random() < 0.1:
            return None
        makers: dict[str, Callable[[], Any]] = {
            "qty": lambda: chance.randint(1, 99),
            "cost": lambda: Decimal(chance.randint(1, 10**7)).scaleb(-2).normalize(),
            "kind": lambda: chance.choice(KINDS),
            "due": lambda: (
                f"20{chance.randint(10, 39)}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}"
            ),
            "note": lambda: f"note {chance.randrange(10**6)} ä",
        }
        return makers[name]()


def run_jobs(client: Client, project: str, book: Book, seed: int, stop: threading.Event) -> None:
    """Change all issues of a kind by jobs, one after the other, and export the project now and then."""
    chance = random.Random(seed)  # noqa: S311
    path = f"/v1/projects/{project}"
    while not stop.wait(_PAUSE_OF_JOBS):
        if chance.random() < 0.2:
            job = client.require("POST", f"{path}/export", {"format": "csv"}, _once())
        else:
            book.marks += 1
            body = {
                "filter": {"field": "kind", "op": "eq", "value": chance.choice(KINDS)},
                "set": {"fields": {"mark": book.marks}},
            }
            job = client.require("POST", f"{path}/issues/update-matching", body, _once())
        while job["state"] in ("waiting", "running"):
            time.sleep(1)
            job = client.require("GET", f"{path}/jobs/{job['id']}")
        if job["state"] != "done":
            book.faults.append(f"a job ended as {job['state']}: {job}")
        book.done[f"jobs ({job['kind']})"] += 1


def run_imports(stack: Stack, tenant: str, book: Book, seed: int, stop: threading.Event) -> None:
    """Import files into new projects, by `./dev import`, which is repeated until all is imported."""
    chance = random.Random(seed)  # noqa: S311
    with tempfile.TemporaryDirectory() as made:
        while not stop.wait(_PAUSE_OF_IMPORTS):
            project = f"imp{len(book.imported)}x{tenant}"
            file = Path(made) / f"{project}.csv"
            with file.open("w", newline="") as text:
                rows = csv.writer(text)
                rows.writerow(("title", "weight", "color"))
                rows.writerows(
                    (f"Row {at}", chance.randint(1, 10**6), chance.choice(("red", "blue")))
                    for at in range(_ROWS)
                )
            end = time.monotonic() + _IMPORT_SECONDS
            while project not in book.imported:
                try:
                    stack.dev("import", str(file), "--project", project, "--tenant", tenant)
                except Failure as failure:
                    if time.monotonic() > end:
                        book.faults.append(f"the import of {project} does not end: {failure}")
                        return
                    time.sleep(2)
                else:
                    book.imported[project] = _ROWS
                    book.done["imported files"] += 1


def _once() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def _body(values: dict[str, Any]) -> dict[str, Any]:
    body = {name: values[name] for name in ("name", "state") if name in values}
    fields = {
        name: float(value) if isinstance(value, Decimal) else value
        for name, value in values.items()
        if name not in body
    }
    return body | ({"fields": fields} if fields else {})

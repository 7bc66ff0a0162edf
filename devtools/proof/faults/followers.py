"""Clients that follow the changes of a project: each change arrives once, and those of an issue in the order of its
versions.

The changes are compared with the documents that the table really held. A follower may be killed at every call. It
goes on with the cursor of the last answer that came. The history of each issue is checked when all is quiet. Applied
to nothing, its changes make every document that the issue ever was, one after the other.
"""

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlencode

from devtools.proof.faults.truth import shown
from devtools.proof.faults.world import Difference, Run, World
from gridview.commands.actor import Role
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.json_codec import dumps
from gridview.journal.gaps import MISSING_SECONDS
from gridview.journal.history import changes_after
from gridview.schema.catalog import Catalog
from gridview.schema.store import Catalogs
from gridview.schema.trash import is_trashed


class FollowedRows(Protocol):
    """Rows that a client follows, and the order in which they should be."""

    @property
    def name(self) -> str:
        """The end of the name of their total."""

    @property
    def query(self) -> dict[str, str]:
        """The query parameters that ask for them."""

    def in_order(self, rows: Iterable[Mapping[str, Any]]) -> list[int]:
        """The numbers of those among all rows of the project, sorted."""


class FilteredRows(NamedTuple):
    """The rows whose `field` has a value, sorted by another field."""

    field: str
    value: Any
    sort: str

    @property
    def name(self) -> str:
        """The end of the name of their total."""
        return "to the end"

    @property
    def query(self) -> dict[str, str]:
        """The query parameters that ask for them."""
        only = {"field": self.field, "op": "eq", "value": self.value}
        return {"filter": dumps(only).decode(), "sort": self.sort}

    def in_order(self, rows: Iterable[Mapping[str, Any]]) -> list[int]:
        """The numbers of those among these rows, sorted."""
        flat = [{**row, **row["fields"]} for row in rows]
        keys = {one["num"]: one.get(self.sort) for one in flat if one.get(self.field) == self.value}
        valued = sorted((value, num) for num, value in keys.items() if value is not None)
        return [*(num for _, num in valued), *sorted(num for num, value in keys.items() if value is None)]


STORED_ROWS = FilteredRows("state", "open", "start")
COMPUTED_ROWS = FilteredRows("late", True, "total")
"""Rows that formulas choose and sort."""

_LOOKS = 400
"""Answers after which there is no end to be hoped for."""


class Follower:
    """One client: the cursor with which it goes on, and the versions that it knows up to there."""

    def __init__(self, world: World, catalogs: Catalogs, followed: FollowedRows | None = None) -> None:
        """`followed`: only the changes of these rows are followed, with what each does to them."""
        self._world = world
        self._catalogs = catalogs
        self._followed = followed
        self._asked = {} if followed is None else followed.query
        self._cursor: str | None = None
        self._received: dict[int, int] = {}
        """The last version of each issue that it received."""
        self._rows: dict[int, str] | None = None if followed is None else {}
        """The keys of the rows by number; None when they are not followed, or not known any more."""
        self._whole = not world.orders
        """Whether it has followed from the beginning, and nothing was untellable."""
        self._run: Run | None = None

    def look(self) -> Run | None:
        """Ask for the changes after the last answer; None when such a question is on its way."""
        if self._run is not None and self._run in self._world.runs:
            return None
        asked = dict(self._asked) if self._cursor is None else {**self._asked, "since": self._cursor}
        self._run = self._world.start(
            "follower", lambda table: self._request(table, asked), self._ended, " ".join(asked)
        )
        return self._run

    def _request(self, table: Table, asked: Mapping[str, str]) -> Any:
        viewer = self._world.tenant, "eve", Role.VIEWER
        functions = self._world.functions(table, self._catalogs)
        return functions.request(viewer, "GET", f"{self._world.path}/changes", query=urlencode(asked))

    def _ended(self, run: Run) -> None:
        self._world.check_request(run)
        if run.invocation.raised is None:
            answer = run.invocation.result
            if answer.status == HTTPStatus.OK:
                self._take(answer.body)
            elif answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                self._forget()  # its subject is gone

    def _take(self, answer: Mapping[str, Any]) -> None:
        if self._cursor is None and self._world.orders:
            self._forget()  # earlier changes went to others
        self._cursor = answer["next"]
        for event in answer["items"]:
            if event["kind"] == "reset":
                self._world.totals["resets"] += 1
                self._forget()
                continue
            self._world.totals["followed changes"] += 1
            self._receive(event)
            if self._rows is not None:
                self._move(self._rows, event)

    def _forget(self) -> None:
        self._received, self._rows, self._whole = {}, None, False

    def _receive(self, event: Mapping[str, Any]) -> None:
        num, version = event["num"], event["version"]
        last = self._received.get(num, 0 if self._whole else None)
        if last is not None and (version <= last if self._asked else version != last + 1):
            raise Difference(f"the feed delivers version {version} of issue {num} after {last}")
        self._received[num] = version
        had = self._world.history.get(keys.issue(*self._world.home, num), {})
        if event["kind"] != "delete" and version not in had:
            raise Difference(f"the feed delivers version {version} of issue {num}, which it never had")
        if event["kind"] == "delete" and not self._was_deleted(num, version):
            raise Difference(
                f"the feed delivers version {version} of issue {num} as a deletion, and no user deleted it"
            )

    def _was_deleted(self, num: int, version: int) -> bool:
        """Whether a user made this version by deleting the issue.

        A document that is taken out of the table makes no version.
        """
        images = self._world.images[keys.issue(*self._world.home, num)]
        return any(one is not None and is_trashed(one) and one.get("version") == version for one in images)

    def _move(self, rows: dict[int, str], event: Mapping[str, Any]) -> None:
        num, move, key, before = (event[name] for name in ("num", "move", "key", "previous_key"))
        by_hand = keys.issue(*self._world.home, num) in self._world.taken_out
        if not by_hand and ((move != "enter") is not (num in rows) or rows.get(num) != before):
            raise Difference(f"the feed delivers {event} when the rows are {rows}")
        rows.pop(num, None)
        if move != "leave":
            rows[num] = key

    # In quiet

    def catch_up(self) -> None:
        """Ask undisturbed until nothing is new, even after the journal numbers of dead writers have been given up."""
        quiet = 0
        for _ in range(_LOOKS):
            before = self._world.totals["followed changes"]
            if (run := self.look()) is not None:
                self._world.finish(run)
            quiet = 0 if self._world.totals["followed changes"] > before else quiet + 1
            if quiet > 2:
                return
            if quiet:
                self._world.pass_time(MISSING_SECONDS + 1)
        raise Difference("the changes do not come to an end")

    def assert_all_delivered(self, but_for: frozenset[str]) -> None:
        """Every change up to the last version has arrived. `but_for`: issues that cannot be derived."""
        world = self._world
        if not self._asked:
            known = {keys.issue(*world.home, num): version for num, version in self._received.items()}
            if self._whole and (missing := world.orders.keys() - known.keys() - but_for):
                raise Difference(f"the feed delivered nothing about {sorted(missing)}")
            for key, version in known.items():
                if key not in but_for and version != world.orders[key].version:
                    raise Difference(
                        f"{key}: the feed delivered version {version} last, and there is {world.orders[key]}"
                    )
            world.totals["issues followed to the end"] += len(known)
        if self._followed is not None and self._rows is not None and not but_for:
            self._assert_rows(self._followed, self._rows)

    def _assert_rows(self, followed: FollowedRows, rows: Mapping[int, str]) -> None:
        catalog = self._world.catalog()
        order = sorted(rows, key=rows.__getitem__)
        expected = followed.in_order(
            shown(catalog, document, None) for document in self._world.documents.values()
        )
        if order != expected:
            raise Difference(f"by the feed the rows are {order}, and they are {expected}")
        self._world.totals[f"rows followed {followed.name}"] += len(rows)


def assert_histories(world: World, catalog: Catalog) -> None:
    """The history of each issue, in the trash or not, goes from its first version to its last without a gap.

    The history of an issue whose document was removed may be empty, even if the document was put back by hand.
    """
    for key in {**world.documents, **world.trashed}.keys() - world.taken_out:
        _assert_history(world, catalog, key)
        world.totals["histories"] += 1


def _assert_history(world: World, catalog: Catalog, key: str) -> None:
    values: dict[str, Any] = {}
    last, by = 0, ""
    for change in changes_after(world.engine, *world.home, keys.parse_issue(key).num, 0):
        if change.was_by not in ("", by):
            raise Difference(f"{key}: version {change.version} comes after one by {change.was_by}, not {by}")
        last, by = change.version, change.updated[1] or by
        for name, one in change.fields.items():
            if _alike(values.get(name), one.old) or catalog.removed(name):
                values[name] = one.new
            else:
                raise Difference(
                    f"{key}: version {last} changes {name} from {one.old}, and it was {values.get(name)}"
                )
        had = world.history[key].get(last, ())
        if change.kind != "delete" and not any(_is(catalog, values, document) for document in had):
            raise Difference(
                f"{key}: by its history it was {values} at version {last}, and it was one of {had}"
            )
    if last != world.orders[key].version:
        raise Difference(f"{key}: its history ends with version {last}, and there is {world.orders[key]}")


def _is(catalog: Catalog, values: Mapping[str, Any], document: Item) -> bool:
    """Whether these are a document's values.

    Values of permanently deleted attributes do not count: they are swept out of it.
    """
    stored = {"name": document["name"], "state": document["state"], **document["fields"]}
    names = (name for name in (*values, *stored) if not catalog.removed(name))
    return all(_alike(values.get(name), stored.get(name)) for name in names)


def _alike(one: Any, other: Any) -> bool:
    """Options are a set: their order makes no difference."""
    if isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str):
        return sorted(one) == sorted(other)
    return bool(one == other)

"""Forgets a person: passes over the table until one finds no trace, and no trace can appear any more.

A run keeps no record of itself. Each pass begins at the first item, and each write is on condition of the values that
it replaces. So a run that was killed between any two writes is started again and ends the same way. Requests that had
begun before may write meanwhile. The next pass finds their writes: the last pass begins when all of them are over.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, NamedTuple, Protocol

from devtools.operate.forgetting import redaction
from devtools.operate.forgetting.places import Found, Trace, find
from devtools.operate.forgetting.redaction import Strings
from gridview.chains.blocks import Block
from gridview.chains.fence_cache import Fences
from gridview.commands.attributes import rebuild
from gridview.commands.idempotency import stored_items
from gridview.derive.images import Poison
from gridview.derive.ledger import SHOWN_SECONDS, Ledger
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import Bound, Condition, Item, Key, version_is
from gridview.dynamodb.partitions import remove_partition
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys, live_keys
from gridview.encoding.sort_strings import sort_string
from gridview.fsck.repair import repair_issues
from gridview.journal.history import rewrite
from gridview.journal.items import Head, JournalItem
from gridview.journal.log import Log
from gridview.maintenance.folding import Folder
from gridview.maintenance.forgotten_answers import redaction as answer_writes
from gridview.schema import documents
from gridview.schema.catalog import Catalog, CompositeOrder
from gridview.schema.fields import FieldType
from gridview.schema.history import Change
from gridview.schema.ids import FORMER_USER
from gridview.schema.items import raise_epoch, to_catalog
from gridview.schema.store import Catalogs, DefinitionsMissing, read_kept, retry_lost_races
from gridview.schema.trash import is_trashed
from gridview.schema.user_jobs import JobKind
from gridview.support import clock
from gridview.support.concurrency import chunked
from gridview.support.errors import NotFound

INVOCATION_SECONDS: Final = 75.0
"""Seconds after which no invocation is at work any more that read something before."""

_PAGE: Final = 1_000
_AT_ONCE: Final = 50
"""Issues that are derived again together."""
_FOLD_SECONDS: Final = 60.0


class Files(Protocol):
    """The files of exports."""

    def remove(self, tenant: str, before: float) -> None:
        """Delete the tenant's files, whole or not, that were written before an instant (seconds since 1970)."""


class NoFiles:
    """The files of a stack without a bucket."""

    def remove(self, tenant: str, before: float) -> None:
        """Do nothing."""


class _Project(NamedTuple):
    """A project as a pass knows it: its definitions, if it is not removed, and the head of its journal."""

    catalog: Catalog | None
    user_keys: frozenset[str]
    strings: Strings
    head: Head | None


@dataclass
class Traces:
    """The findings of a pass: how many items of each kind it rewrote or deleted, and how many wait for background
    work.
    """

    rewritten: Counter[str] = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)

    @property
    def any(self) -> bool:
        """Whether there was any."""
        return bool(self.rewritten or self.waiting)


def forget_person(
    table: Table,
    tenant: str,
    user: str,
    *,
    wait: Callable[[float], None],
    files: Files,
    settling: float,
    tokens: float,
    most: int,
    say: Callable[[Traces], None] = lambda _: None,
) -> Traces:
    """Forget a user of a tenant in at most `most` passes. Returns the traces of the last pass: none if all went well.

    A pass is a Scan of the table. The last one begins when the user's last token has expired (`tokens` seconds). By
    then no invocation is at work that began before the end of the previous pass. `wait(seconds)` lets time pass.
    `settling`: as for a rebuild of an index.
    """
    quiet = clock.seconds() + tokens
    found = Traces()
    for _ in range(most):
        began = clock.seconds()
        found = _Pass(table, tenant, user, files, settling).run()
        say(found)
        if not found.any and began >= quiet:
            break
        if found.any:
            quiet = max(quiet, clock.seconds() + INVOCATION_SECONDS)
        wait(max(quiet - clock.seconds(), 0.0))
    return found


class _Pass:
    """One pass over the table."""

    def __init__(self, table: Table, tenant: str, user: str, files: Files, settling: float) -> None:
        self._table = table
        self._tenant = tenant
        self._user = user
        self._files = files
        self._settling = settling
        self._began = clock.seconds()
        self._projects: dict[str, _Project] = {}
        self._versions: dict[str, int] = {}
        self._to_repair: list[str] = []
        self._to_fold: set[str] = set()
        self._to_build: dict[str, set[str]] = defaultdict(set)
        self.traces = Traces()

    def run(self) -> Traces:
        """Rewrite the items that name the user; returns the traces found."""
        self._files.remove(self._tenant, self._began)
        for item in self._items():
            found = find(item[keys.PK], item[keys.SK])
            if found.tenant == self._tenant:
                self._meet(found, item)
        self._derive_again()
        for project in self._to_fold:
            self._fold(project)
        for project, definitions in self._to_build.items():
            self._build(project, definitions)
        return self.traces

    def _items(self) -> Iterator[Item]:
        after: Key | None = None
        while True:
            page = self._table.scan(after=after, limit=_PAGE)
            yield from page.items
            if page.last is None:
                return
            after = page.last

    def _meet(self, found: Found, item: Item) -> None:
        name = found.place.name
        if name == "job" and self._is_old_export(item):
            self._remove_job(item)
            return
        handlers: Mapping[Trace, Callable[[Item], None]] = {
            Trace.NAMED: partial(self._replace, name),
            Trace.LISTED: partial(self._replace, name),
            Trace.OWN: partial(self._remove_own, found),
            Trace.DOCUMENT: self._document,
            Trace.HISTORY: self._history,
            Trace.ANSWER: self._answer,
            Trace.LEDGER: self._ledger,
            Trace.JOURNAL: self._journal,
            Trace.DERIVED: self._entry,
            Trace.BLOCK: self._block,
        }
        handler = handlers.get(found.place.trace)
        if handler is not None:
            handler(item)

    # In place

    def _replace(self, name: str, item: Item, values: dict[str, object] | None = None) -> None:
        change = redaction.in_place(name, item, self._user)
        if values:
            change = redaction.replacing(item, {**(change.assign if change else {}), **values})
        if change is None:
            return
        self.traces.rewritten[name] += 1
        with _lost_races():
            self._table.update(item[keys.PK], item[keys.SK], change.unchanged, assign=change.assign)
            if redaction.is_default(name, item, self._user):
                self._publish(keys.parse_project(item[keys.PK])[1])

    def _publish(self, project: str) -> None:
        """Raise the project's epoch, so that no container goes on with former definitions."""
        retry_lost_races(
            lambda: self._table.transact([raise_epoch(read_kept(self._table, self._tenant, project))])
        )

    def _remove_own(self, found: Found, item: Item) -> None:
        name = found.place.name
        if (item["user"] if name == "socket" else found.user) != self._user:
            return
        self.traces.rewritten[name] += 1
        if name == "socket":
            connection = live_keys.parse_socket(item[keys.SK])[1]
            self._table.delete(live_keys.socket_owner(connection), live_keys.SOCKET)
            bound = Bound("begins_with", f"{item[keys.SK]}.")
            remove_partition(self._table, item[keys.PK], lambda: 1.0, bound)
        self._table.delete(item[keys.PK], item[keys.SK])

    # Issues

    def _document(self, item: Item) -> None:
        key = keys.parse_issue(item[keys.PK])
        project = self._project(key.project)
        self._versions[item[keys.PK]] = int(item["version"])
        values = redaction.values(item["fields"], project.user_keys, self._user)
        if not values or is_trashed(item) or project.catalog is None:
            self._replace("issue", item, {"fields": {**item["fields"], **values}} if values else None)
            return
        bare = {
            **item,
            "fields": {
                one: value for one, value in item["fields"].items() if not project.catalog.removed(one)
            },
        }
        if bare["created_by"] == self._user:
            bare["created_by"] = FORMER_USER
        document = documents.amended(bare, values, user=FORMER_USER, now=clock.now())
        self.traces.rewritten["issue"] += 1
        with _lost_races():
            self._table.put(document, version_is(item["version"]))

    def _history(self, item: Item) -> None:
        key = derived_keys.parse_history(item[keys.PK])
        user_keys = self._project(key.project).user_keys

        def forgotten(change: Change) -> Change:
            after = redaction.change_without(change, user_keys, self._user)
            if after is None:
                return change
            self.traces.rewritten["history"] += 1
            return after

        with _lost_races():
            rewrite(self._table, item, forgotten)

    def _answer(self, item: Item) -> None:
        items = list(stored_items(self._table, item[keys.PK], item[keys.SK]))
        writes = list(answer_writes(item[keys.SK], items, partial(redaction.answer_without, user=self._user)))
        if writes:
            self.traces.rewritten["remembered request"] += 1
            with _lost_races():
                self._table.transact(writes)

    # Derived items

    def _ledger(self, item: Item) -> None:
        key = keys.parse_issue(item[keys.PK])
        project, ledger = self._project(key.project), Ledger.from_item(item)
        if ledger.version < self._versions.get(item[keys.PK], 0):
            self.traces.waiting["issue"] += (
                1  # the stream consumer has not derived, nor remembered, its newest version
            )
            return
        if not any(project.strings.names(*one) for one in _strings_in(ledger)):
            return
        head = project.head
        committed = True
        if ledger.intent is not None and ledger.number:
            committed = head is not None and head.committed(ledger.number) is True
        after = ledger.committed()
        current = any(project.strings.names(*one) for one in after.applied.items())
        shown = ledger.at < clock.seconds() - SHOWN_SECONDS
        if not committed or current or not shown or (ledger.intent is not None and not ledger.number):
            self.traces.waiting["ledger"] += 1
            self._to_fold.add(key.project)
            if current:
                self._to_repair.append(item[keys.PK])
            return
        self.traces.rewritten["ledger"] += 1
        done = replace(after, intent={} if ledger.number else None, left={}, revision=ledger.revision + 1)
        stored = done.to_item(item[keys.PK], expires=item.get(keys.TTL_ATTRIBUTE))
        unchanged = "attribute_not_exists(intent)" if ledger.intent is None else "attribute_exists(intent)"
        condition = Condition(f"revision = :revision AND {unchanged}", values={":revision": ledger.revision})
        with _lost_races():
            self._table.put(stored, condition)

    def _journal(self, item: Item) -> None:
        tenant, name = derived_keys.parse_journal(item[keys.PK])
        project, record = self._project(name), JournalItem.from_item(item)
        after = redaction.journal_without(record, project.strings)
        if after is None:
            return
        if project.head is not None and project.head.shown(clock.seconds()) < record.number:
            self.traces.waiting["journal item"] += 1
            self._to_fold.add(name)
            return
        self.traces.rewritten["journal item"] += 1
        stored = after.to_item(tenant, name)
        assign = {one: stored[one] for one in ("changes", "known_as")}
        with _lost_races():
            unchanged = Condition("#seen = :seen", {"#seen": "changes"}, {":seen": item["changes"]})
            self._table.update(item[keys.PK], item[keys.SK], unchanged, assign=assign)

    def _entry(self, item: Item) -> None:
        project = self._project(keys.parse_issue(item[keys.PK]).project)
        family = item[keys.SK].split(".", 2)[2]
        if keys.SORT in item and project.strings.names(family, item[keys.SORT]):
            self.traces.waiting["sort entry"] += 1

    def _block(self, item: Item) -> None:
        key = derived_keys.parse_block(item[keys.PK])
        project = self._project(key.project)
        block = Block.from_item(item)
        if any(project.strings.names(key.family, sort_string(body, 1)) for body in block.sets or ()):
            self.traces.waiting["block"] += 1
            self._to_fold.add(key.project)
        elif any(project.strings.names(key.family, one) for one in (block.lower, block.upper or "")):
            self.traces.waiting["block"] += 1
            self._to_build[key.project].add(key.family.split(".")[0])

    def _derive_again(self) -> None:
        """Derive issues from their documents whose ledgers name the person.

        `created_by` and `updated_by` are replaced in the same version, from which the stream consumer derives nothing.
        """
        catalogs = Catalogs()
        for some in chunked(self._to_repair, _AT_ONCE):
            repair_issues(self._table, catalogs, dict.fromkeys(some, 0))

    def _fold(self, project: str) -> None:
        folder = Folder(self._table, Catalogs(), Fences(), self._tenant, project, _ignore)
        if self._project(project).head is not None:
            folder.fold_all(lambda: _FOLD_SECONDS)

    def _build(self, project: str, definitions: Iterable[str]) -> None:
        """Build indexes again whose fence keys name the person, unless background work on them is under way."""
        catalog = self._project(project).catalog
        if catalog is None or any(catalog.pending()):
            return
        fields = [one.id for one in (*catalog.builtins, *catalog.attributes) if one.key in definitions]
        composites = [one.id for one in catalog.living_composites if one.id in definitions]
        # A deleted attribute that can be restored has no id by which it can be named: all are built then.
        all_of_them = any(one.key in definitions for one in catalog.hidden)
        if fields or composites or all_of_them:
            chosen = (None, None) if all_of_them else (fields, composites)
            with suppress(NotFound):
                place = self._tenant, project
                rebuild(self._table, Catalogs(), *place, *chosen, rate=0, settling=self._settling)

    # Exports

    def _is_old_export(self, item: Item) -> bool:
        return item["kind"] == JobKind.EXPORT.value and clock.instant(item["created"]) < self._began

    def _remove_job(self, item: Item) -> None:
        """An export made before this pass: its rows may name the person. Its turn, if it has one, finds it gone."""
        tenant, project = item[keys.PK].removeprefix(keys.JOBS_PREFIX).split(".")
        remove_partition(self._table, keys.job_parts(tenant, project, item[keys.SK]), lambda: 1.0)
        self._table.delete(item[keys.PK], item[keys.SK])

    def _project(self, name: str) -> _Project:
        if name not in self._projects:
            head = Log(self._table, self._tenant, name).known_head(consistent=True)
            try:
                catalog = to_catalog(self._tenant, name, read_kept(self._table, self._tenant, name))
            except (NotFound, DefinitionsMissing):
                self._projects[name] = _Project(None, frozenset(), Strings(self._user, (), {}), head)
                return self._projects[name]
            fields = (*catalog.builtins, *catalog.attributes, *catalog.hidden, *catalog.deleting)
            user_keys = frozenset(one.key for one in fields if one.type is FieldType.USER)
            orders = {
                one.order_id.split(".")[0]: one for one in catalog.orders if isinstance(one, CompositeOrder)
            }
            self._projects[name] = _Project(catalog, user_keys, Strings(self._user, user_keys, orders), head)
        return self._projects[name]


def _lost_races() -> AbstractContextManager[None]:
    """A write whose condition no longer holds: someone else has changed the item, and the next pass looks again."""
    return suppress(ConditionFailed, TransactionFailed)


def _strings_in(ledger: Ledger) -> Iterator[tuple[str, str]]:
    yield from ledger.applied.items()
    for family, intent in (ledger.intent or {}).items():
        yield from ((family, one) for one in (*intent.left, intent.to or ""))
    for family, strings in ledger.left.items():
        yield from ((family, one) for one in strings)


def _ignore(_: Poison) -> None:
    """A block that cannot be read; `fsck` reports it."""

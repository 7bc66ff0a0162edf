"""A table that stops before every call and hands it over: to an adversary, a recorder, a test. Beneath it is any table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from typing_extensions import override

from gridview.dynamodb.expressions import Bound, Condition, Item, Key, Span, Write
from gridview.dynamodb.table import Fetched, Page, Scanned, Table, Together
from gridview.encoding import keys

WRITES = frozenset({"put", "delete", "add", "update", "remove", "transact", "batch_put"})


class Attempted(NamedTuple):
    """A call of the core: the name of the method, the keys that it is about (of a query, the partition), and the
    written item.
    """

    operation: str
    keys: tuple[Key, ...]
    consistent: bool = True
    item: Mapping[str, Any] | None = None
    condition: Condition | None = None
    transaction: tuple[Write, ...] = ()
    paths: Sequence[Sequence[str]] = ()

    @property
    def key(self) -> Key:
        """The first of its keys."""
        return self.keys[0] if self.keys else ("", "")

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.operation in WRITES


Result = TypeVar("Result")
Around = Callable[[Attempted, Callable[[], Any]], Any]
"""Gets a call and the function that does it, and returns its answer. It may refuse it, do it twice, or do it later."""


def everything(count: int) -> int:
    """A batch is done whole."""
    return count


class Watched(Table):
    """Another table, seen through `around`, which gets all calls.

    `portion` returns how many of the keys of a batch the next call does. The others come back unprocessed, and the
    request for them is another call, as in `storage`.
    """

    def __init__(self, table: Table, around: Around, portion: Callable[[int], int] = everything) -> None:
        self.name = table.name
        self.meter = table.meter
        self.beneath = table
        self._around = around
        self._portion = portion

    @override
    def metered(self) -> "Watched":
        return Watched(self.beneath.metered(), self._around, self._portion)

    @override
    def get(self, pk: str, sk: str, *, consistent: bool = False) -> Item | None:
        found: Item | None = self._around(
            Attempted("get", ((pk, sk),), consistent),
            lambda: self.beneath.get(pk, sk, consistent=consistent),
        )
        return found

    @override
    def batch_get(
        self,
        wanted: Sequence[Key],
        *,
        consistent: bool = False,
        paths: Sequence[Sequence[str]] | None = None,
        enough: Callable[[Mapping[Key, Item]], bool] = lambda _: False,
    ) -> Fetched:
        found: dict[Key, Item] = {}
        left = tuple(dict.fromkeys(wanted))
        while left:
            count = max(1, self._portion(len(left)))
            part, left = left[:count], left[count:]
            # Whether enough has come is asked of all that has come, not of this part.
            fetched: Fetched = self._around(
                Attempted("batch_get", part, consistent),
                lambda part=part: self.beneath.batch_get(  # type: ignore[misc]
                    part, consistent=consistent, paths=paths, enough=lambda more: enough({**found, **more})
                ),
            )
            found.update(fetched.items)
            left = (*fetched.left, *left)
            if fetched.left or enough(found):
                break
        return Fetched(found, frozenset(left))

    @override
    def query(
        self,
        partition: str,
        *,
        index: bool = False,
        bound: Bound | None = None,
        forward: bool = True,
        limit: int | None = None,
        consistent: bool = False,
        only: Condition | None = None,
        paths: Sequence[Sequence[str]] | None = None,
    ) -> Page:
        page: Page = self._around(
            Attempted("query", ((partition, keys.GSI1 if index else ""),), consistent),
            lambda: self.beneath.query(
                partition,
                index=index,
                bound=bound,
                forward=forward,
                limit=limit,
                consistent=consistent,
                only=only,
                paths=paths,
            ),
        )
        return page

    @override
    def query_ranges(
        self, partition: str, bounds: Sequence[Bound], *, paths: Sequence[Sequence[str]] | None = None
    ) -> list[Page]:
        pages: list[Page] = self._around(
            Attempted("query", ((partition, keys.GSI1),), consistent=False),
            lambda: self.beneath.query_ranges(partition, bounds, paths=paths),
        )
        return pages

    @override
    def read_together(
        self, wanted: Sequence[Key], spans: Sequence[Span], *, paths: Sequence[Sequence[str]] | None = None
    ) -> Together:
        found: Together = self._around(
            Attempted(
                "read_together",
                (*wanted, *((span.partition, keys.GSI1 if span.in_index else "") for span in spans)),
                consistent=False,
            ),
            lambda: self.beneath.read_together(wanted, spans, paths=paths),
        )
        return found

    @override
    def scan(
        self,
        *,
        after: Key | None = None,
        segment: int = 0,
        segments: int = 1,
        only: Condition | None = None,
        limit: int | None = None,
    ) -> Scanned:
        scanned: Scanned = self._around(
            Attempted("scan", (), consistent=False),
            lambda: self.beneath.scan(
                after=after, segment=segment, segments=segments, only=only, limit=limit
            ),
        )
        return scanned

    @override
    def put(self, item: Mapping[str, Any], condition: Condition | None = None) -> None:
        key = item[keys.PK], item[keys.SK]
        self._around(
            Attempted("put", (key,), item=item, condition=condition),
            lambda: self.beneath.put(item, condition),
        )

    @override
    def delete(self, pk: str, sk: str, condition: Condition | None = None) -> None:
        self._around(
            Attempted("delete", ((pk, sk),), condition=condition),
            lambda: self.beneath.delete(pk, sk, condition),
        )

    @override
    def add(
        self,
        pk: str,
        sk: str,
        attribute: str,
        amount: int,
        condition: Condition,
        *,
        expires: int | None = None,
    ) -> int:
        total: int = self._around(
            Attempted("add", ((pk, sk),), condition=condition),
            lambda: self.beneath.add(pk, sk, attribute, amount, condition, expires=expires),
        )
        return total

    @override
    def update(
        self,
        pk: str,
        sk: str,
        condition: Condition,
        *,
        add: Mapping[str, int] | None = None,
        assign: Mapping[str, Any] | None = None,
        default: Mapping[str, Any] | None = None,
        keep: Mapping[str, str] | None = None,
        drop: Sequence[str] = (),
    ) -> Item:
        changed: Item = self._around(
            Attempted("update", ((pk, sk),), condition=condition),
            lambda: self.beneath.update(
                pk, sk, condition, add=add, assign=assign, default=default, keep=keep, drop=drop
            ),
        )
        return changed

    @override
    def remove(self, pk: str, sk: str, paths: Sequence[Sequence[str]]) -> None:
        self._around(
            Attempted("remove", ((pk, sk),), paths=paths), lambda: self.beneath.remove(pk, sk, paths)
        )

    @override
    def transact(self, writes: Sequence[Write]) -> None:
        self._around(
            Attempted("transact", tuple(map(written_key, writes)), transaction=tuple(writes)),
            lambda: self.beneath.transact(writes),
        )

    @override
    def batch_put(self, items: Iterable[Mapping[str, Any]]) -> None:
        left = list(items)
        while left:
            count = max(1, self._portion(len(left)))
            part, left = left[:count], left[count:]
            self._around(
                Attempted("batch_put", tuple((item[keys.PK], item[keys.SK]) for item in part)),
                lambda part=part: self.beneath.batch_put(part),  # type: ignore[misc]
            )


def written_key(write: Write) -> Key:
    """The key that one write of a transaction is about."""
    wire = write.request["Item"] if write.kind == "Put" else write.request["Key"]
    return wire[keys.PK]["S"], wire[keys.SK]["S"]

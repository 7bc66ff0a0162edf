"""The stream of the table in memory: the changes since the last look, as records with both images."""

from typing import Any

from gridview.encoding import keys
from gridview.encoding.attribute_values import item_to_wire
from tests.support.cloud import Cloud
from tests.support.http import Context


class Stream:
    """Hands changes of issues to the consumer. A look after each write misses no version."""

    def __init__(self, account: Cloud) -> None:
        self._account = account
        self._seen: dict[tuple[str, str], dict[str, Any]] = {}
        self._records: list[dict[str, Any]] = []
        self._sequence = 0

    def look(self) -> None:
        """Collect the new changes."""
        now = {
            key: item
            for key, item in self._account.table.items.items()
            if keys.is_issue(key[0]) and keys.is_project(key[1])
        }
        for key in sorted({*self._seen, *now}):
            old, new = self._seen.get(key), now.get(key)
            if old != new:
                self._records.append(self._record(key, old, new))
        self._seen = now

    def deliver(self, count: int | None = None) -> None:
        """Deliver all collected records to the consumer in one batch, or only so many."""
        if count is None:
            self.look()
        records, self._records = self._records[:count], self._records[count:] if count else []
        if records:
            result = self._account.modules["maintain"].handler({"Records": records}, Context())
            assert result == {"batchItemFailures": []}

    def _record(
        self, key: tuple[str, str], old: dict[str, Any] | None, new: dict[str, Any] | None
    ) -> dict[str, Any]:
        self._sequence += 1
        images = {name: item_to_wire(item) for name, item in (("OldImage", old), ("NewImage", new)) if item}
        kind = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
        stream = {
            "Keys": {keys.PK: {"S": key[0]}, keys.SK: {"S": key[1]}},
            "SequenceNumber": f"{self._sequence:021d}",
            **images,
        }
        return {"eventName": kind, "dynamodb": stream}

"""Keys of data derived from issues: the index, the journal, and the history. `keys` says how a key is made."""

from typing import NamedTuple

from gridview.encoding.keys import ISSUE_PREFIX, IssueKey, parse_issue
from gridview.encoding.sort_strings import issue_number

# The index

LEDGER = "xindex"
"""Sort key of an issue's ledger: the record of everything that the stream consumer derived from the issue."""
ORDER_PREFIX = "xvalue-"


def order(tenant_id: str, project_id: str, order_id: str) -> str:
    """Sort key of a sort entry, and index partition of one order: `xvalue-0807.35e9.a1.1`.

    `order_id` is the internal id of the field or composite index, and the generation (`order_id_of` in
    `schema.fields`).
    """
    return f"{ORDER_PREFIX}{tenant_id}.{project_id}.{order_id}"


def is_order(sort_key: str) -> bool:
    """Return whether this is the sort key of a sort entry, in any project."""
    return sort_key.startswith(ORDER_PREFIX)


def parse_order_id(sort_key: str, tenant_id: str, project_id: str) -> str | None:
    """Return the order that a sort entry of this project belongs to; None for any other sort key."""
    prefix = order(tenant_id, project_id, "")
    return sort_key.removeprefix(prefix) if sort_key.startswith(prefix) else None


BLOCK_PREFIX = "block-"
BLOCKS = (BLOCK_PREFIX, "block.")
"""The range of block partition keys, like `ISSUES`."""
DIRECTORY_PREFIX = "blocks-"


class BlockKey(NamedTuple):
    """The parts of a block's partition key."""

    tenant: str
    project: str
    family: str
    id: str


def block(tenant_id: str, project_id: str, family_id: str, block_id: str) -> str:
    """Partition key of a block: `block-0807.35e9.a1.1.0`. For family ids see `derive.families`."""
    return f"{BLOCK_PREFIX}{tenant_id}.{project_id}.{family_id}.{block_id}"


def directory(tenant_id: str, project_id: str, family_id: str) -> str:
    """Sort key of the blocks of a family, and index partition of its directory: `blocks-0807.35e9.a1.1`."""
    return f"{DIRECTORY_PREFIX}{tenant_id}.{project_id}.{family_id}"


def parse_block(partition_key: str) -> BlockKey:
    """Return the parts of a block's partition key; ValueError for any other key."""
    if not partition_key.startswith(BLOCK_PREFIX):
        raise ValueError("not a block's partition key")
    tenant_id, project_id, rest = partition_key.removeprefix(BLOCK_PREFIX).split(".", 2)
    family_id, _, block_id = rest.rpartition(".")
    return BlockKey(tenant_id, project_id, family_id, block_id)


def parse_block_id(partition_key: str) -> str:
    """Return the block id in a block's partition key."""
    return partition_key.rpartition(".")[2]


def is_block(partition_key: str) -> bool:
    """Return whether this is a block's partition key, judged only by its type."""
    return partition_key.startswith(BLOCK_PREFIX)


COLUMN_PREFIX = "column-"
COLUMNS = (COLUMN_PREFIX, "column.")
"""The range of partition keys of columns, like `ISSUES`."""
_PAGE_DIGITS = 6


class ColumnKey(NamedTuple):
    """The parts of the partition key of pages of a column."""

    tenant: str
    project: str
    family: str


def column(tenant_id: str, project_id: str, family_id: str) -> str:
    """Partition key of the pages of a column: `column-0807.35e9.a1.1`."""
    return f"{COLUMN_PREFIX}{tenant_id}.{project_id}.{family_id}"


def column_page(number: int) -> str:
    """Sort key of a page of a column: `000012`. The highest issue number is in page 390,624."""
    return f"{number:0{_PAGE_DIGITS}}"


def parse_column(partition_key: str) -> ColumnKey:
    """Return the parts of the partition key of pages of a column; ValueError for any other key."""
    if not is_column(partition_key):
        raise ValueError("not the partition key of a column")
    tenant_id, project_id, family_id = partition_key.removeprefix(COLUMN_PREFIX).split(".", 2)
    return ColumnKey(tenant_id, project_id, family_id)


def parse_column_page(sort_key: str) -> int:
    """Return the number of a page in its sort key; ValueError for any other key."""
    if not is_column_page(sort_key):
        raise ValueError("not the sort key of a page of a column")
    return int(sort_key)


def is_column_page(sort_key: str) -> bool:
    """Return whether this is the sort key of a page of a column."""
    return len(sort_key) == _PAGE_DIGITS and sort_key.isascii() and sort_key.isdigit()


def is_column(partition_key: str) -> bool:
    """Return whether this is the partition key of pages of a column, judged only by its type."""
    return partition_key.startswith(COLUMN_PREFIX)


# The journal

FOLD = "fold"
"""Sort key of the head of a project's journal, and index partition of the heads of all journals that wait to
be folded.
"""
TOTALS = "totals"
"""Sort key of the totals of a project's columns, in the partition of its journal."""
JOURNAL_PREFIX = "journal-"
_JOURNAL_DIGITS = 12
MAX_JOURNAL_NUMBER = 10**_JOURNAL_DIGITS - 1
_MARK = "+"


def journal(tenant_id: str, project_id: str) -> str:
    """Partition key of a project's journal: `journal-0807.35e9`."""
    return f"{JOURNAL_PREFIX}{tenant_id}.{project_id}"


def journal_item(number: int) -> str:
    """Sort key of the journal item of a number, zero padded so that string order is number order: `000000000057`."""
    return f"{number:0{_JOURNAL_DIGITS}}"


def journal_mark(number: int) -> str:
    """Return the sort key of the mark that the sort entries of a journal item are there, right after the
    item: `000000000057+`.
    """
    return f"{journal_item(number)}{_MARK}"


def is_journal(partition_key: str) -> bool:
    """Return whether this is a journal's partition key, judged only by its type."""
    return partition_key.startswith(JOURNAL_PREFIX)


def parse_journal(partition_key: str) -> tuple[str, str]:
    """Return the tenant and project in a journal's partition key."""
    tenant_id, project_id = partition_key.removeprefix(JOURNAL_PREFIX).split(".")
    return tenant_id, project_id


def is_journal_mark(sort_key: str) -> bool:
    """Return whether this is the sort key of the mark of a journal item, and not of the item."""
    return sort_key.endswith(_MARK)


def parse_journal_number(sort_key: str) -> int:
    """Return the number in the sort key of a journal item or its mark."""
    return int(sort_key.removesuffix(_MARK))


# The history of each issue

HISTORY_PREFIX = "history-"
_VERSION_DIGITS = 13
MAX_VERSION = 10**_VERSION_DIGITS - 1
"""The highest version that a key of the history can hold. After a restore of the table, versions begin at
that instant, in milliseconds since 1970 (docs/decisions/0077-restore.md).
"""
_PART_OF_CHANGE = "part."


def history(tenant_id: str, project_id: str, num: int) -> str:
    """Return the partition key of an issue's history: `history-0807.35e9.00000001`."""
    return f"{HISTORY_PREFIX}{tenant_id}.{project_id}.{issue_number(num)}"


def history_item(version: int) -> str:
    """Sort key of the change that made a version, zero padded so that string order is number order: `0000000000003`."""
    return f"{version:0{_VERSION_DIGITS}}"


def history_part(version: int, part: int) -> str:
    """Return the sort key of a further part of a large change, after all changes: `part.0000000000003.1`."""
    return f"{_PART_OF_CHANGE}{history_item(version)}.{part}"


def parse_history(partition_key: str) -> IssueKey:
    """Return the issue in the partition key of its history."""
    return parse_issue(ISSUE_PREFIX + partition_key.removeprefix(HISTORY_PREFIX))


def is_history_part(sort_key: str) -> bool:
    """Return whether this is the sort key of a further part of a large change."""
    return sort_key.startswith(_PART_OF_CHANGE)


# Changes in the order of time

ACTIVITY_PREFIX = "activity-"
ACTIVITY_END = ":"
"""After every change in the order of time: an instant begins with a digit."""
_SECOND = len("2026-11-21T08:00:00")
_GROUP = "~"
"""Begins the part of a sort key that separates groups, after all single items of the same second, or of the
same thousand.
"""


def activity(tenant_id: str, project_id: str) -> str:
    """Partition key of a project's changes in the order of time: `activity-0807.35e9`."""
    return f"{ACTIVITY_PREFIX}{tenant_id}.{project_id}"


def activity_place(at: str, num: int, version: int) -> str:
    """Place of a change in the order of time: `2026-11-21T08:00:00.000000Z.00000001.0000000000003`. Cursors hold it."""
    return f"{at}.{change_place(num, version)}"


def activity_group(at: str, digest: str) -> str:
    """Sort key of changes of the same second: `2026-11-21T08:00:00~5f0c7a9be1d2c3a4`."""
    return f"{parse_activity_second(at)}{_GROUP}{digest}"


def parse_activity_second(place: str) -> str:
    """Return the second in a place, an instant or a sort key in the order of time: none of this second is
    before it.
    """
    return place[:_SECOND]


def parse_activity_second_end(place: str) -> str:
    """Return the end of the second in a place, an instant or a sort key in the order of time. It is after all
    of that second, and before the next one.
    """
    return f"{parse_activity_second(place)}{_GROUP}{_GROUP}"


def parse_activity_at(place: str) -> str:
    """Return the instant, of fixed length, in a place in the order of time."""
    return place[: len("2026-11-21T08:00:00.000000Z")]


# Changes that are made together

CHANGE_PREFIX = "change-"
_CHANGE_SPAN = 1_000


def change(tenant_id: str, project_id: str, change_id: bytes) -> str:
    """Return the partition key of the members of a change:
    `change-0807.35e9.5d0e1a5244c54f5e9d2b52a1e0c5b7a3`.
    """
    return f"{CHANGE_PREFIX}{tenant_id}.{project_id}.{change_id.hex()}"


def change_place(num: int, version: int) -> str:
    """Return the place of a version in a change: `00000001.0000000000003`. Cursors hold it."""
    return f"{issue_number(num)}.{history_item(version)}"


def change_span(num: int) -> int:
    """Return the first of the thousand numbers that share groups of a change."""
    return num - num % _CHANGE_SPAN


def change_group(num: int, digest: str) -> str:
    """Sort key of versions that are part of a change, of issues numbered in the same thousand:
    `00001000~5f0c7a9be1d2c3a4`.
    """
    return f"{issue_number(max(change_span(num), 1))}{_GROUP}{digest}"


def change_range(first: int, last: int) -> tuple[str, str]:
    """Return the first and last sort keys of the members of a change in the thousands of issues from `first`
    to `last`.
    """
    end = change_span(last) + _CHANGE_SPAN - 1
    return issue_number(max(change_span(first), 1)), f"{issue_number(end)}{_GROUP}{_GROUP}"


CHANGE_NOTE = "written."
"""Begins the sort keys of the notes that a user has just written under a change: after all its listed
members.
"""


def change_note(user_id: str) -> str:
    """Sort key of the note that a user has just written under a change: `written.ann`."""
    return f"{CHANGE_NOTE}{user_id}"


def parse_change_note(sort_key: str) -> str:
    """Return the user of a note that a change was just written."""
    return sort_key.removeprefix(CHANGE_NOTE)


def parse_change_span(sort_key: str) -> int:
    """Return the thousand of a version, or of several, that are part of a change."""
    return change_span(int(sort_key[: len(issue_number(1))]))

"""Scan: the same results from moto and from the table in memory."""

from collections.abc import Iterator

import pytest
from moto import mock_aws

from devtools.local.table import create_table_input
from devtools.proof.faults.memory_table import MemoryTable
from gridview.dynamodb import client
from gridview.dynamodb.expressions import Condition, Key
from gridview.dynamodb.signed_client import SignedClient
from gridview.dynamodb.table import Table
from gridview.encoding import keys

NAME = "gridview"


@pytest.fixture(params=["direct", "botocore", "memory"])
def table(request: pytest.FixtureRequest) -> Iterator[Table]:
    if request.param == "memory":
        yield MemoryTable()
        return
    with mock_aws():
        direct = request.param == "direct"
        made = Table(NAME, transport=client.Transport(direct))
        assert isinstance(made._client, SignedClient) == direct
        made._client.create_table(**create_table_input(NAME))
        yield made.metered()


def scanned(
    table: Table, *, limit: int | None = None, segments: int = 1, only: Condition | None = None
) -> list[list[Key]]:
    """The keys of each page, segment after segment."""
    pages = []
    for segment in range(segments):
        after: Key | None = None
        while True:
            page = table.scan(after=after, limit=limit, segment=segment, segments=segments, only=only)
            pages.append([(item[keys.PK], item[keys.SK]) for item in page.items])
            after = page.last
            if after is None:
                break
    return pages


def fill(table: Table) -> list[Key]:
    stored = [(f"p{first}", f"s{second}") for first in range(5) for second in range(4)]
    table.batch_put({keys.PK: pk, keys.SK: sk, "note": "x"} for pk, sk in stored)
    return stored


@pytest.mark.parametrize("limit", [None, 1, 3, 7, 20, 100])
def test_pages_follow_each_other_and_partitions_are_whole(table: Table, limit: int | None) -> None:
    stored = fill(table)
    pages = scanned(table, limit=limit)
    assert all(len(page) <= (limit or 100) for page in pages)
    found = [key for page in pages for key in page]
    assert sorted(found) == stored
    partitions = [pk for pk, _ in found]
    for pk in set(partitions):
        at = partitions.index(pk)
        assert [key for key in found if key[0] == pk] == found[at : at + 4]
        assert found[at : at + 4] == sorted(found[at : at + 4])


@pytest.mark.parametrize("segments", [2, 3])
def test_segments_share_the_table(table: Table, segments: int) -> None:
    stored = fill(table)
    found = [key for page in scanned(table, limit=2, segments=segments) for key in page]
    assert sorted(found) == stored


def test_a_filter_is_applied_to_what_was_read(table: Table) -> None:
    fill(table)
    only = Condition("PK >= :first AND #pk < :behind", {"#pk": keys.PK}, {":first": "p1", ":behind": "p3"})
    pages = scanned(table, limit=5, only=only)
    found = [key for page in pages for key in page]
    assert {pk for pk, _ in found} == {"p1", "p2"}
    assert len(found) == 8
    assert len(pages) >= 4


def test_an_empty_table_is_one_empty_page(table: Table) -> None:
    assert scanned(table) == [[]]


def test_a_page_is_a_megabyte_and_a_call(table: Table) -> None:
    for num in range(30):
        table.put({keys.PK: "p", keys.SK: f"s{num:02d}", "text": "x" * 100_000})
    counted = table.metered()
    pages = scanned(counted)
    assert 2 <= len(pages) <= 4
    assert sum(len(page) for page in pages) == 30
    assert [call.operation for call in counted.meter.calls] == ["scan"] * len(pages)

"""The checker and the repair on the engine: its pages, its scans, its conditions."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from devtools.local import engine as engines
from devtools.operate.project_walk import ProjectWalk
from gridview.dynamodb.expressions import Item
from gridview.dynamodb.table import Table
from gridview.encoding import derived_keys, keys
from gridview.fsck.checker import Check
from gridview.fsck.progress import Finding
from gridview.fsck.repairs import Repairs
from gridview.fsck.walks import IssueWalk, TableWalk
from gridview.schema.store import Catalogs
from tests.engine.local import Stack, stack
from tests.support import nasty
from tests.support.depth import one_of

PROJECT = "nasty"
ISSUES = one_of(24, thorough=60)
DELETED = range(10, 18)


@pytest.fixture
def written(engine: engines.Engine, table_name: str) -> Iterator[Stack]:
    """A project whose issues were created, edited and deleted, and all of it derived."""
    with stack(engine, table_name, f"t{secrets.token_hex(8)}") as running:
        running.api.made("/v1/projects", {"name": "Nasty", "id": PROJECT, "states": nasty.STATES})
        for attribute in nasty.ATTRIBUTES:
            running.api.made(f"/v1/projects/{PROJECT}/attributes", attribute)
        running.batch(PROJECT, [{"create": body} for body in nasty.issues(ISSUES, seed=1)])
        running.deliver()
        cleared = {"fields": dict.fromkeys(("title", "amount", "labels"))}
        running.batch(PROJECT, [{"update": {"num": num, **cleared}} for num in range(5, 15)])
        running.batch(PROJECT, [{"delete": {"num": num}} for num in DELETED])
        running.deliver()
        yield running


@pytest.fixture
def table(engine: engines.Engine, table_name: str) -> Table:
    return Table(table_name, engines.signed(engine.client()))


def checked(running: Stack, table: Table, walk: IssueWalk, *, repair: bool = False) -> dict[str, Finding]:
    """The findings about this tenant; other tests leave other tenants in any state."""
    found: dict[str, Finding] = {}
    ours = f"-{running.tenant}."

    def collect(finding: Finding) -> None:
        if ours in finding.key:
            found[finding.key] = finding

    check = Check(table, walk, collect, patience=0, repair=Repairs(table, Catalogs()) if repair else None)
    while not check.done:
        check.step()
    return found


def walks(running: Stack, table: Table) -> list[IssueWalk]:
    return [ProjectWalk(table, running.tenant, PROJECT), TableWalk(table), TableWalk(table, 4)]


def key_of(running: Stack, num: int) -> str:
    return keys.issue(running.tenant, PROJECT, num)


def derived(running: Stack, table: Table) -> dict[str, Item]:
    """The live sort entries of all issues."""
    return {
        item[keys.PK] + item[keys.SK]: item[keys.SORT]
        for num in range(1, ISSUES + 1)
        for item in table.query_all(key_of(running, num), consistent=True)
        if item[keys.SK].startswith(derived_keys.ORDER_PREFIX) and keys.SORT in item
    }


def test_derived_data_is_sound_and_damage_is_found_and_repaired(written: Stack, table: Table) -> None:
    for walk in walks(written, table):
        assert checked(written, table, walk) == {}
    sound = derived(written, table)
    random = Random(5)  # noqa: S311
    damaged = set()
    for num in random.sample(range(1, ISSUES + 1), ISSUES // 2):
        key = key_of(written, num)
        item = random.choice([one for one in table.query_all(key) if one[keys.SK].startswith("x")])
        if keys.SORT in item and random.random() < 0.3:
            table.put({**item, keys.SORT: "zz"})
        elif keys.TTL_ATTRIBUTE in item:
            table.put({name: value for name, value in item.items() if name != keys.TTL_ATTRIBUTE})
        else:
            table.delete(key, item[keys.SK])
        damaged.add(key)
    for walk in walks(written, table):
        assert set(checked(written, table, walk)) == damaged
    repaired = checked(written, table, ProjectWalk(table, written.tenant, PROJECT), repair=True)
    assert set(repaired) == damaged
    assert all(finding.repaired for finding in repaired.values())
    for walk in walks(written, table):
        assert checked(written, table, walk) == {}
    assert derived(written, table) == sound


def test_a_page_of_the_engine_may_hold_a_part_of_an_issue(written: Stack, table: Table) -> None:
    """Documents of a third of a megabyte: each page of a scan ends elsewhere, some inside an item collection."""
    partition = keys.project(written.tenant, PROJECT)
    large = [num for num in range(1, ISSUES + 1) if num not in DELETED][-16:]
    spoilt = large[8]
    for num in large:
        document = table.get(key_of(written, num), partition, consistent=True)
        assert document is not None
        table.put({**document, "fields": {**document["fields"], "a9999": "x" * (310_000 + 997 * num)}})
    assert checked(written, table, TableWalk(table)) == {}
    table.delete(key_of(written, spoilt), derived_keys.LEDGER)
    walk = TableWalk(table)
    found: dict[str, Finding] = {}
    positions = []
    with ThreadPoolExecutor(4) as pool:
        while not walk.done:
            part = walk.next(pool)
            part.confirm()
            positions.append(walk.progress)
    assert len(positions) > 4
    for position in positions:
        # Continued from any position, it has no false finding, and finds all damage after it, or found it
        # before.
        found = checked(written, table, TableWalk(table, progress=position))
        assert set(found) <= {key_of(written, spoilt)}
    assert set(checked(written, table, TableWalk(table))) == {key_of(written, spoilt)}

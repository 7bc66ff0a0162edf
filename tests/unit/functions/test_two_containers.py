"""Two containers: one changes a definition, and the other's next answer follows it, though it has read the former ones.

Every container must answer like one without any memory.
"""

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from devtools.proof.faults.memory_table import MemoryTable
from gridview.encoding import keys
from gridview.journal.log import Log
from gridview.schema.store import Catalogs
from gridview.view.block_cache import BlockCache
from gridview.view.journal_tail import learn
from tests.support.cloud import Cloud
from tests.support.depth import one_of
from tests.support.functions import freshly_imported
from tests.support.http import Answer, Client, claims

TENANT, PROJECT = "0807", "site"
PATH = f"/v1/projects/{PROJECT}"


class Asked(NamedTuple):
    """A request. `path` is the part after the project's."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}


CHANGES = {
    "an attribute is added": Asked(
        "POST", "/attributes", {"id": "late", "name": "Late", "type": "text", "indexed": True}
    ),
    "an attribute is deleted": Asked("DELETE", "/attributes/severity"),
    "an attribute is renamed": Asked("PATCH", "/attributes/due", {"name": "Deadline"}),
    "an attribute gets a default": Asked("PATCH", "/attributes/severity", {"default": "low", "format": None}),
    "an index is switched off": Asked("PATCH", "/attributes/due", {"indexed": False}),
    "an index is switched on": Asked("PATCH", "/attributes/note", {"indexed": True}),
    "an option is renamed": Asked(
        "PATCH",
        "/attributes/severity",
        {"options": [{"id": "o1", "value": "lowest"}, {"id": "o2", "value": "high"}]},
    ),
    "options are moved": Asked("PATCH", "/attributes/severity", {"options": ["high", "low"]}),
    "a state is added": Asked("PATCH", "", {"states": ["open", "closed", "stuck"]}),
    "a composite index is added": Asked("POST", "/indexes", {"sort": [{"field": "due"}, {"field": "name"}]}),
    "a composite index is deleted": Asked("DELETE", "/indexes/c1"),
    "the project is deleted": Asked("DELETE", ""),
}

READS = (
    Asked("GET", ""),
    Asked("GET", "/attributes/severity"),
    Asked("GET", "/attributes/due"),
    Asked("GET", "/indexes"),
    Asked("GET", "/indexes/c1"),
    Asked("GET", "/issues/1"),
    Asked("GET", "/issues/9"),
    Asked("GET", "/grid"),
    Asked("GET", "/grid", query={"sort": "severity"}),
    Asked("POST", "/grid", {"sort": [{"field": "due"}]}),
    Asked("POST", "/grid", {"sort": [{"field": "note"}]}),
    Asked("POST", "/grid", {"sort": [{"field": "late"}]}),
    Asked("POST", "/grid", {"sort": [{"field": "severity"}, {"field": "due"}], "count": True}),
    Asked("POST", "/grid", {"sort": [{"field": "state"}, {"field": "due"}]}),
    Asked("POST", "/grid", {"filter": {"field": "severity", "op": "eq", "value": "low"}}),
    Asked("POST", "/grid", {"filter": {"field": "severity", "op": "eq", "value": "lowest"}}),
    Asked("POST", "/grid", {"filter": {"field": "state", "op": "ne", "value": "stuck"}}),
    Asked("POST", "/groups", {"by": [{"field": "severity"}]}),
    Asked("POST", "/groups", {"by": [{"field": "state"}]}),
    Asked("POST", "/summary", {"fields": [{"field": "due", "functions": ["min", "max"]}]}),
    Asked("GET", "/issues/1/row-number", query={"sort": "severity"}),
    Asked("GET", "/issues/1/row-number", query={"sort": "due"}),
)
WRITES = (
    Asked("POST", "/issues", {"name": "New", "fields": {"severity": "low", "due": "2024-02-01"}}),
    Asked("POST", "/issues", {"name": "New", "fields": {"severity": "lowest"}}),
    Asked("POST", "/issues", {"name": "New", "fields": {"late": "a"}}),
    Asked("POST", "/issues", {"name": "New", "state": "stuck"}),
    Asked("PATCH", "/issues/1", {"name": "Edited", "fields": {"severity": "high"}}),
    Asked("PATCH", "/issues/1", {"fields": {"severity": "lowest"}}),
    Asked("PATCH", "/issues/1", {"fields": {"late": "a"}}),
    Asked("PATCH", "/issues/1", {"name": "Edited", "state": "closed"}, headers={"if-match": '"7"'}),
    Asked("DELETE", "/issues/1"),
    Asked("DELETE", "/issues/1", headers={"if-match": '"7"'}),
    Asked("DELETE", "/issues/9"),
    Asked("POST", "/issues/batch", {"operations": [{"update": {"num": 1, "fields": {"severity": "low"}}}]}),
    Asked("POST", "/issues", {"name": "New"}),
)


class Container:
    """The functions' modules of one container each, on a table."""

    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self.modules = modules

    def begin(self, table: MemoryTable) -> None:
        """Forget everything and work on this table."""
        for name in ("query", "command"):
            vars(self.modules[name]).update(table=table.metered(), catalogs=Catalogs())
        vars(self.modules["query"]).update(cache=BlockCache())

    def know(self) -> None:
        """Read the definitions, and the end of the journal."""
        for name in ("query", "command"):
            module: Any = self.modules[name]
            module.catalogs.get(module.table, TENANT, PROJECT)
        query: Any = self.modules["query"]
        learn(Log(query.table, TENANT, PROJECT), query.cache)

    def go_on(self, table: MemoryTable) -> None:
        """Continue on another table, as if it were a later state of the former one."""
        for name in ("query", "command"):
            vars(self.modules[name]).update(table=table.metered())

    def ask(self, asked: Asked) -> Answer:
        client = Client({name: module.handler for name, module in self.modules.items()}, claims(TENANT))
        body = {} if asked.body is None else {"body": asked.body}
        return client.call(asked.method, PATH + asked.path, **body, query=asked.query, headers=asked.headers)

    def calls(self, function: str) -> list[tuple[int, str]]:
        """The calls of a function since the last query: the round of each, and the operation."""
        meter = vars(self.modules[function])["table"].meter
        made = sorted((call.round, call.operation) for call in meter.calls)
        meter.calls, meter.rounds = [], 0
        return made


@pytest.fixture(scope="module")
def site(shared_account: Cloud) -> MemoryTable:
    """A project with issues, all derived."""
    account, api = shared_account, shared_account.api()
    api.made("/v1/projects", {"name": "Site", "id": PROJECT})
    for attribute in (
        {"id": "severity", "name": "Severity", "type": "enum", "options": ["low", "high"]},
        {"id": "due", "name": "Due", "type": "date"},
        {"id": "note", "name": "Note", "type": "text", "indexed": False},
    ):
        api.made(f"{PATH}/attributes", attribute)
    api.made(f"{PATH}/indexes", {"sort": [{"field": "state"}, {"field": "due"}]})
    for severity, due in (("high", "2024-01-03"), ("low", "2024-01-02"), ("high", "2024-01-01")):
        fields = {"severity": severity, "due": due, "note": f"{severity} {due}"}
        api.made(f"{PATH}/issues", {"name": "Issue", "fields": fields})
    account.derive()
    account.upkeep()
    return account.table.copy()


@pytest.fixture(scope="module")
def elsewhere(shared_account: Cloud) -> Mapping[str, ModuleType]:
    """The functions' modules of another container, in the same account."""
    return freshly_imported()


@pytest.fixture
def containers(
    shared_account: Cloud, elsewhere: Mapping[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Container, Container]]:
    """Two containers that forget nothing."""
    before = {name: dict(vars(module)) for name, module in shared_account.modules.items()}
    yield Container(shared_account.modules), Container(elsewhere)
    for name, held in before.items():
        vars(shared_account.modules[name]).update(held)


def content_of(answer: Answer) -> Any:
    """The part of an answer that is equal for two containers: without times, cursors and the number of a new issue.

    A cursor of changes names the minute in which it was made. A number may be used up under the former definitions.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {
            name: one is not None if name in {"next", "prev", "changes_cursor"} else plain(one)
            for name, one in value.items()
            if name not in {"created", "updated", "request_id"}
        }

    body = plain(answer.body)
    if answer.status == 201:
        del body["num"]
    return answer.status, body


def documents(table: MemoryTable) -> list[Any]:
    """The issues in a table in order, without their numbers and times of change."""
    return [
        {name: item[name] for name in ("name", "state", "fields", "version")}
        for (pk, sk), item in table.items.items()
        if pk.startswith(keys.ISSUE_PREFIX) and sk.startswith(keys.PROJECT_PREFIX)
    ]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_that_was_answered_is_seen_by_every_request_that_begins_then(
    site: MemoryTable, containers: tuple[Container, Container], change: Asked
) -> None:
    here, elsewhere = containers
    changed = site.copy()
    elsewhere.begin(changed)
    assert elsewhere.ask(change).status < 300
    for asked in (READS + WRITES)[:: one_of(3)]:
        mine, theirs = changed.copy(), changed.copy()
        here.begin(site)
        here.know()
        here.go_on(mine)
        elsewhere.begin(theirs)
        expected = content_of(elsewhere.ask(asked))
        assert content_of(here.ask(asked)) == expected, asked
        assert documents(mine) == documents(theirs), asked


def test_every_request_finds_its_project_before(
    site: MemoryTable, containers: tuple[Container, Container]
) -> None:
    _, elsewhere = containers
    for asked in READS + WRITES:
        elsewhere.begin(site.copy())
        assert elsewhere.ask(asked).status != 404 or "/issues/9" in asked.path


CALLS = {
    "an issue": (READS[5], [(1, "get_item"), (1, "get_item")]),
    "an issue that is not there": (READS[6], [(1, "get_item"), (1, "get_item")]),
    "a new issue": (WRITES[0], [(1, "get_item"), (1, "update_item"), (2, "put_item")]),
    "a new issue with an error": (WRITES[2], [(1, "get_item")]),
    "an edit": (WRITES[4], [(1, "get_item"), (1, "get_item"), (2, "put_item")]),
    "an edit with an error": (WRITES[6], [(1, "get_item")]),
    "an edit of another version": (WRITES[7], [(1, "get_item"), (1, "get_item")]),
    "a removal": (WRITES[8], [(1, "get_item"), (2, "update_item")]),
    "a removal of another version": (WRITES[9], [(1, "get_item"), (1, "get_item")]),
    "a batch": (WRITES[11], [(1, "get_item"), (2, "get_item"), (3, "put_item")]),
}


@pytest.mark.parametrize(("asked", "calls"), CALLS.values(), ids=CALLS)
def test_the_epoch_is_read_once_and_beside_the_first_call(
    site: MemoryTable, containers: tuple[Container, Container], asked: Asked, calls: list[tuple[int, str]]
) -> None:
    here, _ = containers
    here.begin(site.copy())
    here.know()
    function = "query" if asked.method == "GET" else "command"
    here.calls(function)
    here.ask(asked)
    assert here.calls(function) == calls


@pytest.mark.parametrize(
    ("asked", "calls"),
    [
        (READS[5], [(1, "get_item"), (1, "get_item"), (2, "query"), (3, "get_item")]),
        (
            WRITES[4],
            [(1, "get_item"), (1, "get_item"), (2, "query"), (3, "get_item"), (4, "put_item")],
        ),
        (WRITES[8], [(1, "get_item"), (2, "query"), (3, "update_item")]),
    ],
    ids=["an issue", "an edit", "a removal"],
)
def test_definitions_that_changed_are_read_once(
    site: MemoryTable, containers: tuple[Container, Container], asked: Asked, calls: list[tuple[int, str]]
) -> None:
    here, elsewhere = containers
    changed = site.copy()
    elsewhere.begin(changed)
    assert elsewhere.ask(CHANGES["an attribute is added"]).status == 201
    here.begin(site)
    here.know()
    here.go_on(changed)
    function = "query" if asked.method == "GET" else "command"
    here.ask(asked)
    assert here.calls(function) == calls
    here.ask(asked)
    assert "query" not in {operation for _, operation in here.calls(function)}


@pytest.mark.parametrize("body", [{}, {"sort": [{"field": "due"}]}, {"count": True, "limit": 1}])
def test_a_page_reads_the_epoch_beside_its_first_call(
    site: MemoryTable, containers: tuple[Container, Container], body: Any
) -> None:
    here, _ = containers
    here.begin(site.copy())
    here.know()
    content_of = here.ask(Asked("POST", "/grid", {**body, "explain": True})).body["explain"]
    queries = [
        call for call in content_of["calls"] if (call["operation"], call["target"]) == ("query", "table")
    ]
    of_the_epoch = {"operation": "query", "target": "table", "round": 1, "items_read": 2, "read_units": 1}
    assert of_the_epoch in queries, "and of the counter, which is beside it"
    assert {call["round"] for call in queries} == {1}, "the other one reads the journal"
    (node,) = [node for node in content_of["tree"]["children"] if node["node"] == "epoch read"]
    assert (node["read_units"], node["rounds"]) == (1, [1])
    assert node["sentence"] in content_of["plan"]
    here.begin(site.copy())  # a request that reads all definitions needs no epoch
    content_of = here.ask(Asked("POST", "/grid", {**body, "explain": True})).body["explain"]
    of_the_journal = {
        "operation": "get_item",
        "target": "table",
        "round": 2,
        "items_read": 1,
        "read_units": 1,
    }
    assert [call for call in content_of["calls"] if call["operation"] == "get_item"] in ([], [of_the_journal])
    assert "epoch read" not in [node["node"] for node in content_of["tree"]["children"]]

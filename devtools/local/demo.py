"""The sample data that the first start of the local stack loads: the worked example and a demo project of 2,000 issues.

They are the same on every machine: names, values and dates come from a fixed seed and a fixed calendar.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple

from devtools.local import bulk
from devtools.local.passes import work_off
from gridview.commands.actor import Actor, Role
from gridview.commands.attributes import create_attribute
from gridview.commands.projects import create_project
from gridview.commands.views import create_view
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.query import saved_views
from gridview.query.references import Reference
from gridview.schema import documents
from gridview.schema.catalog import Catalog
from gridview.schema.documents import Document
from gridview.schema.items import to_catalog
from gridview.schema.store import Catalogs, read
from gridview.support.errors import Conflict

TENANT: Final = "0807"
PROJECT: Final = "demo"
DATE_ATTRIBUTE: Final = "due"
"""The custom date field of the demo project; `./dev up` prints a query that sorts by it."""
ISSUES: Final = 2_000

_SEED: Final = 807
_FIRST_DAY: Final = datetime(2022, 1, 3, 7, 30, tzinfo=UTC)
_LAST_DAY: Final = datetime(2024, 12, 20, 17, 0, tzinfo=UTC)
_EXAMPLE_TIME: Final = "2023-04-28T09:00:00.000000Z"
_LOADER: Final = "gridview.demo"


_Option = Mapping[str, str]


def _colored(colors: Mapping[str, str]) -> list[_Option]:
    """Options in this order, each with its color."""
    return [{"value": value, "color": color} for value, color in colors.items()]


class _Project(NamedTuple):
    tenant: str
    id: str
    name: str
    attributes: Sequence[Mapping[str, Any]]


_TENANTS: Final = {"0807": "ACME Engineering", "3cc8": "Big Media"}

_BRIDGE: Final = _Project(
    "0807",
    "35e9",
    "Forth Rail Bridge",
    (
        {"id": "3812", "name": "Start", "type": "date"},
        {"id": "882a", "name": "End", "type": "date"},
        {"id": "3fe6", "name": "Num Items", "type": "number"},
        {"id": "47e5", "name": "Sign Off", "type": "text"},
    ),
)
_BRIDGE_ISSUES: Final[Sequence[Mapping[str, Any]]] = (
    {"name": "Needs Painting", "state": "open", "fields": {"3812": "2023-05-01", "882a": "2023-06-01"}},
    {"name": "Check for rust", "state": "closed", "fields": {"3812": "2023-05-02", "882a": "2023-06-02"}},
    {"name": "Girder needs replacing", "state": "open", "fields": {"3fe6": 42, "47e5": "Approved"}},
)
_NEWS: Final = _Project("3cc8", "7b7e", "The Daily News", ())
_NEWS_ISSUES: Final[Sequence[Mapping[str, Any]]] = (
    {"name": "Launch new newspaper!", "state": "closed"},
    {"name": "Hire reporter for showbiz desk", "state": "open"},
)

_DISCIPLINES: Final = (
    "Structural",
    "Mechanical",
    "Electrical",
    "Signalling",
    "Drainage",
    "Coating",
    "Access",
)
_PRIORITIES: Final = {"Low": "gray", "Medium": "blue", "High": "orange", "Critical": "red"}
_CONTRACTORS: Final = (
    "Caledonian Steelworks",
    "Firth Rope Access",
    "Lothian Coatings",
    "Pentland Electrical",
)
_TRADES: Final = ("Scaffolder", "Welder", "Painter", "Electrician", "Rigger", "Diver", "Surveyor")
_PEOPLE: Final = (
    "a.macleod",
    "b.okafor",
    "C.Sinclair",
    "d.novak",
    "e.fraser",
    "f.lindqvist",
    "g.rossi",
    "h.tanaka",
    "i.murray",
)
DEMO: Final = _Project(
    TENANT,
    PROJECT,
    "Demo",
    (
        {"id": "discipline", "name": "Discipline", "type": "enum", "options": _DISCIPLINES},
        {"id": "priority", "name": "Priority", "type": "enum", "options": _colored(_PRIORITIES)},
        {"id": "asset", "name": "Asset", "type": "text"},
        {"id": DATE_ATTRIBUTE, "name": "Due", "type": "date"},
        {"id": "started", "name": "Started", "type": "date"},
        {"id": "inspected_at", "name": "Inspected at", "type": "datetime"},
        {"id": "completed_at", "name": "Completed at", "type": "datetime"},
        {"id": "assignee", "name": "Assignee", "type": "user"},
        {"id": "inspector", "name": "Inspector", "type": "user"},
        {"id": "severity", "name": "Severity", "type": "number"},
        {"id": "estimate", "name": "Estimate (h)", "type": "number"},
        {"id": "cost", "name": "Cost", "type": "number"},
        {"id": "deflection", "name": "Deflection (mm)", "type": "number"},
        {"id": "safety_critical", "name": "Safety critical", "type": "bool"},
        {"id": "possession", "name": "Needs line possession", "type": "bool"},
        {"id": "trades", "name": "Trades", "type": "multi_enum", "options": _TRADES},
        {"id": "contractor", "name": "Contractor", "type": "enum", "options": _CONTRACTORS},
        {"id": "permit", "name": "Permit", "type": "text"},
        {"id": "remarks", "name": "Remarks", "type": "text"},
        {
            "id": "days_late",
            "name": "Days late",
            "type": "number",
            "formula": f'DATETIME_DIFF({{completed_at}}, {{{DATE_ATTRIBUTE}}}, "day")',
            "description": "Days from the due date until the work was completed; negative if it was early",
        },
        {
            "id": "hourly",
            "name": "Cost per hour",
            "type": "number",
            "formula": "ROUND({cost} / {estimate})",
        },
    ),
)
"""The demo project with its attributes. Those with a formula come after the fields that these read."""

STATES: Final = {
    "reported": "blue",
    "planned": "purple",
    "in progress": "yellow",
    "on hold": "orange",
    "done": "green",
    "rejected": "gray",
}
"""Its states with their colors."""
_FIRST_STATE: Final = next(iter(STATES))

_FINISHED: Final = ("done", "rejected")
VIEW: Final[Mapping[str, Any]] = {
    "name": "Overdue, mine",
    "visibility": "shared",
    "query": {
        "sort": [{"field": DATE_ATTRIBUTE}],
        "filter": {
            "and": [
                {"field": DATE_ATTRIBUTE, "op": "lt", "value": {"today": 0}},
                {"field": "assignee", "op": "eq", "value": {"me": True}},
                {"field": "state", "op": "not_in", "value": list(_FINISHED)},
            ]
        },
    },
}
"""A saved view of the demo. Each reader sees their own issues in it."""

BOARD: Final[Mapping[str, Any]] = {
    "name": "Work by state",
    "visibility": "shared",
    "kind": "board",
    "query": {"sort": [{"field": DATE_ATTRIBUTE}]},
    "color_by": "priority",
    "board": {
        "by": "state",
        "columns": [
            {"value": "reported"},
            {"value": "planned"},
            {"value": "in progress", "limit": 200},
            {"value": "on hold", "limit": 200},
            {"value": "done"},
            {"value": "rejected", "hidden": True},
        ],
        "card": ["assignee", DATE_ATTRIBUTE, "priority"],
        "aggregate": {"field": "estimate", "function": "sum"},
    },
}
"""A saved board of the demo. More issues are in progress than its limit."""

_VIEWS: Final = (VIEW, BOARD)

_WORK: Final = {
    "Structural": (
        "Crack in gusset plate",
        "Loose rivets",
        "Section loss on bracing",
        "Bearing seized",
        "Bolt missing",
    ),
    "Mechanical": (
        "Expansion joint noisy",
        "Winch brake slips",
        "Hoist overdue for test",
        "Roller bearing dry",
    ),
    "Electrical": ("Floodlight out", "Cable tray corroded", "Earth bond broken", "Navigation light flickers"),
    "Signalling": ("Signal cable chafed", "Track circuit fails when wet", "Location case door damaged"),
    "Drainage": ("Gully blocked", "Ponding on walkway", "Downpipe detached", "Weep hole silted up"),
    "Coating": ("Paint flaking", "Rust staining", "Coating below thickness", "Touch-up after welding"),
    "Access": ("Handrail loose", "Ladder cage bent", "Walkway grating lifted", "Gate does not lock"),
}
_PLACES: Final = ("Fife tower", "Inchgarvie tower", "Queensferry tower", "North approach", "South approach")
_REMARKS: Final = (
    "Same as last year.",
    "see photo 3",
    "Ask the café at the south end for parking.",
    "-- awaiting parts",
    "“Monitor only” until the next principal inspection",
    "Écaillage visible from the train",
    "Temporary repair holds; permanent repair in the closed season.",
)


def load(table: Table) -> None:
    """Load both into an empty table: about 40,000 items. Completes a killed load."""
    for tenant, name in _TENANTS.items():
        table.put({keys.PK: keys.tenant(tenant), keys.SK: keys.TENANT_SELF, "name": name})
    for project, bodies in ((_BRIDGE, _BRIDGE_ISSUES), (_NEWS, _NEWS_ISSUES)):
        catalog = _ensure(table, project)
        _load_issues(table, catalog, [_example(catalog, num, body) for num, body in enumerate(bodies, 1)])
    catalog = _ensure(table, DEMO, states=_colored(STATES))
    _load_issues(table, catalog, list(_generate(catalog)))
    _serve_formulas(table)
    _save_views(table, catalog)


def _ensure(table: Table, project: _Project, states: Sequence[str | _Option] = ("open", "closed")) -> Catalog:
    """The project's catalog. Creates whatever is missing."""
    actor = Actor(project.tenant, _LOADER, Role.ADMIN)
    with contextlib.suppress(Conflict):  # an earlier load came this far
        create_project(table, actor, {"id": project.id, "name": project.name, "states": list(states)})
    known = {field.id for field in _catalog(table, project).attributes}
    catalogs = Catalogs()
    for attribute in project.attributes:
        if attribute["id"] not in known:
            body = {name: list(value) if name == "options" else value for name, value in attribute.items()}
            create_attribute(table, catalogs, actor, project.id, body)
    return _catalog(table, project)


def _catalog(table: Table, project: _Project) -> Catalog:
    return to_catalog(project.tenant, project.id, read(table, project.tenant, project.id))


def _load_issues(table: Table, catalog: Catalog, issues: list[Document]) -> None:
    last = issues[-1]
    if table.get(last[keys.PK], last[keys.SK], consistent=True) is not None:
        return  # the load was completed, and people may have edited the issues since
    bulk.take_numbers(table, catalog, last["num"])
    bulk.load(table, catalog, issues, bulk.in_transactions)


def _serve_formulas(table: Table) -> None:
    """Have the indexes of formulas served, which background work does elsewhere. A pass finds that the load wrote all."""
    work_off(table)


def _save_views(table: Table, catalog: Catalog) -> None:
    actor = Actor(catalog.tenant, _LOADER, Role.ADMIN)
    partition = keys.views(catalog.tenant, catalog.project)
    for place, body in enumerate(_VIEWS, 1):
        if table.get(partition, keys.shared_view(place), consistent=True) is not None:
            continue  # an earlier load came this far, and people may have edited the view since
        change = saved_views.parse_create(catalog, body, Reference.of(actor.user))
        create_view(table, catalog, actor, change, partial(saved_views.ready, catalog))


def _example(catalog: Catalog, num: int, body: Mapping[str, Any]) -> Document:
    changes = documents.parse_create(catalog, body)
    return documents.new_document(catalog, num, changes, user=_LOADER, now=_EXAMPLE_TIME)


def _generate(catalog: Catalog) -> Iterator[Document]:
    random = Random(_SEED)  # noqa: S311  (the point is that it is no secret)
    span = _LAST_DAY - _FIRST_DAY
    reported = sorted(_FIRST_DAY + span * random.random() for _ in range(ISSUES))
    for num, moment in enumerate(reported, 1):
        # Whole minutes, so that some share one.
        yield _issue(catalog, random, num, moment.replace(second=0, microsecond=0))


def _issue(catalog: Catalog, random: Random, num: int, reported: datetime) -> Document:
    draft = _Draft(
        state=random.choices(tuple(STATES), (25, 15, 12, 5, 38, 5))[0],
        discipline=random.choices(_DISCIPLINES, (22, 10, 14, 8, 12, 26, 8))[0],
        severity=random.choices((1, 2, 3, 4, 5), (20, 35, 25, 15, 5))[0],
        place=f"{random.choice(_PLACES)}, {random.choice(('bay', 'span', 'panel'))} {random.randint(1, 24)}",
        reported=reported,
    )
    work = random.choice(_WORK[draft.discipline])
    name = f"{work} at {draft.place}" if random.random() < 0.8 else work
    # Every field draws, filled or not, so that a change of one leaves the others as they are.
    drawn = {
        field: (random.random() < share, value(random, draft)) for field, (share, value) in _VALUES.items()
    }
    fields = {
        field: _as_json(value) for field, (filled, value) in drawn.items() if filled and value is not None
    }
    reporter, editor = random.sample(_PEOPLE, 2)
    changes = documents.parse_create(catalog, {"name": name, "state": _FIRST_STATE, "fields": fields})
    document = documents.new_document(catalog, num, changes, user=reporter, now=_stored(reported))
    if draft.state == _FIRST_STATE:
        return document
    moved = reported + timedelta(minutes=random.randint(30, 60 * 24 * 60))
    patch = documents.parse_patch(catalog, {"state": draft.state})
    return documents.merged(catalog, document, patch, user=editor, now=_stored(moved))


class _Draft(NamedTuple):
    """The facts on which the values of an issue depend."""

    state: str
    discipline: str
    severity: int
    place: str
    reported: datetime

    def days_later(self, days: int) -> date:
        return (self.reported + timedelta(days=days)).date()


def _started(random: Random, draft: _Draft) -> date | None:
    day = draft.days_later(random.randint(0, 40))
    return day if draft.state in ("in progress", "done") else None


def _at(day: date, hour: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, tzinfo=UTC)


def _completed_at(random: Random, draft: _Draft) -> datetime | None:
    # Signed off at the end of a shift, several at a time.
    moment = _at(draft.days_later(random.randint(1, 60)), random.choice((12, 17)))
    return moment if draft.state == "done" else None


def _cost(random: Random, draft: _Draft) -> Decimal | None:
    cost = Decimal(random.randint(20, 900_000)) / 100
    credited = random.random() < 0.03
    return None if draft.state != "done" else -cost if credited else cost


def _deflection(random: Random, draft: _Draft) -> Decimal | None:
    measured = Decimal(random.randint(-4_000, 12_000)).scaleb(random.choice((-3, -3, -2)))
    return measured if draft.discipline == "Structural" else None


_VALUES: Final[Mapping[str, tuple[float, Callable[[Random, _Draft], Any]]]] = {
    "discipline": (1.0, lambda _, draft: draft.discipline),
    "severity": (0.9, lambda _, draft: draft.severity),
    "safety_critical": (0.8, lambda _, draft: draft.severity >= 4),
    "priority": (
        0.85,
        lambda random, draft: tuple(_PRIORITIES)[min(3, max(0, draft.severity - random.randint(1, 2)))],
    ),
    "asset": (0.7, lambda _, draft: draft.place),
    "assignee": (0.7, lambda random, _: random.choice(_PEOPLE)),
    DATE_ATTRIBUTE: (
        0.75,
        lambda random, draft: draft.days_later(random.choice((7, 14, 30, 30, 60, 90, 365))),
    ),
    "started": (0.9, _started),
    "estimate": (0.6, lambda random, _: Decimal(random.choice((1, 2, 2, 4, 4, 8, 16, 40, 120))) / 2),
    "completed_at": (1.0, _completed_at),
    "cost": (0.9, _cost),
    "deflection": (0.6, _deflection),
    "inspected_at": (0.35, lambda random, draft: _at(draft.days_later(-random.randint(1, 9)), 9)),
    "inspector": (0.3, lambda random, _: random.choice(_PEOPLE)),
    "possession": (0.2, lambda random, _: random.random() < 0.5),
    "trades": (0.4, lambda random, _: random.sample(_TRADES, random.choice((1, 1, 2, 3)))),
    "contractor": (0.25, lambda random, _: random.choice(_CONTRACTORS)),
    "permit": (0.15, lambda random, draft: f"PTW-{draft.reported:%Y}-{random.randint(1, 400):04d}"),
    "remarks": (0.12, lambda random, _: random.choice(_REMARKS)),
}
"""Field -> the share of issues with a value, and how the value is drawn. Severities, hours, days and people repeat often."""


def _as_json(value: Any) -> Any:
    """A value as a request spells it."""
    if isinstance(value, datetime):
        return _stored(value)
    return value.isoformat() if isinstance(value, date) else value


def _stored(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")

"""docs/limits.md has every limit of the code, each with the value of its constant."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devtools.local import gateway
from gridview.api import work_shares
from gridview.commands import (
    actor,
    answers,
    batch,
    formulas,
    idempotency,
    issues,
    jobs,
    pages,
    parameters,
    reads,
    requests,
    undo,
    write_rate,
)
from gridview.derive import room
from gridview.encoding import consistency, fractional_keys, json_codec, sort_strings, values
from gridview.encoding.json_codec import dumps
from gridview.formulas import definition, lexer, numbers, parser, parts
from gridview.live import (
    change_requests,
    changes,
    messages,
    outbox,
    poll_limits,
    presence,
    retries,
    seats,
    sending,
    socket_messages,
    sockets,
    targets,
    tickets,
    webhook_store,
)
from gridview.maintenance import bulk_edits, bulk_request, export, export_files, export_links
from gridview.query import (
    aggregate_planner,
    grid_request,
    group_filter,
    group_request,
    operators,
    page,
    planner,
    predicates,
    relative_operands,
    rules,
    summary_request,
    view_answers,
    view_filters,
    view_request,
)
from gridview.schema import (
    catalog,
    comments,
    documents,
    field_formats,
    fields,
    history,
    ids,
    manual_orders,
    options,
    placements,
    previews,
    remembered,
    restorable,
    trash,
    user_jobs,
    views,
)
from gridview.support import errors
from gridview.support.validation import RequestModel
from infra.ingress import THROTTLE
from infra.openapi.document import document
from infra.settings import Settings
from tests.unit.test_docs import ROOT, table_in

CORE = ROOT / "layers/core/python/gridview"
PAGE = "docs/limits.md"


def kilobytes(size: int) -> str:
    return f"{-(-size // 1024)} KB"


def megabytes(size: int) -> str:
    return f"{size // 1_000_000} MB"


def same(*limits: int) -> str:
    """The one limit that several constants state."""
    (limit,) = set(limits)
    return f"{limit:,}"


LIMITS = {
    "a request": f"{gateway.MAX_PAYLOAD_BYTES // 2**20} MB",
    "levels of the JSON of a request": f"{json_codec.MAX_NESTING}",
    "an answer": f"{gateway.MAX_PAYLOAD_BYTES // 2**20} MB",
    "rows of the grid in one answer": megabytes(page.MAX_PAGE_BYTES),
    "views or comments in one answer": megabytes(pages.MAX_PAGE_BYTES),
    "deleted issues in one answer": megabytes(reads.MAX_TRASH_BYTES),
    "changes in one answer": [megabytes(changes.MAX_ANSWER_BYTES), f"{changes.MAX_EVENTS}"],
    "issues in the answer of a batch": megabytes(batch.MAX_ANSWER_BYTES),
    "a problem document": kilobytes(errors.MAX_PROBLEM_BYTES),
    "errors of a problem": f"{errors.MAX_ERRORS}",
    "properties of an object": f"{RequestModel.max_properties}",
    "values of an issue": f"{catalog.MAX_ATTRIBUTES}",
    "operations of a batch": f"{requests.MAX_OPERATIONS}",
    "characters of an Idempotency-Key": "255",
    "hours for which an Idempotency-Key is remembered": f"{remembered.KEPT_DAYS * 24:.0f}",
    "issues that the tokens of a request name": f"{consistency.MAX_ISSUES}",
    "seconds for which a consistency token is valid": f"{consistency.SECONDS}",
    "rows, or items of another list, of a result page": same(grid_request.MAX_LIMIT, parameters.MAX_ITEMS),
    "groups of a result page": f"{group_request.MAX_GROUPS}",
    "offset": f"{grid_request.MAX_OFFSET:,}",
    "columns": f"{grid_request.MAX_COLUMNS}",
    "keys of a sort or a composite index": f"{catalog.MAX_KEYS}",
    "conditions of a filter, parts of and and or": f"{predicates.MAX_CONDITIONS}",
    "rules of a grid request or a view": f"{rules.MAX_RULES}, of {predicates.MAX_CONDITIONS} conditions together",
    "levels of a filter": f"{predicates.MAX_DEPTH}",
    "values of in and not_in": f"{operators.MAX_VALUES}",
    "units from today in either direction": f"{relative_operands.MAX_UNITS:,}",
    "seconds from now in either direction": f"{relative_operands.MAX_SECONDS:,}",
    "characters of the name of a time zone": f"{relative_operands.MAX_TIMEZONE_LENGTH}",
    "fields of groups": f"{group_request.MAX_FIELDS}",
    "aggregates of groups": f"{group_request.MAX_AGGREGATES}",
    "bounds of ranges of numbers (bins)": f"{group_request.MAX_BINS}",
    "groups that are ordered by counts or an aggregate": f"{aggregate_planner.MAX_RANKED:,}",
    "fields of a summary, footers of a view": f"{summary_request.MAX_FIELDS}",
    "a filter that groups repeat": kilobytes(group_filter.MAX_OWN_BYTES),
    "documents that one query judges or sorts": f"{planner.CANDIDATES:,}",
    "documents that aggregates of one query read": f"{aggregate_planner.MAX_DOCUMENTS:,}",
    "issues of a project that one query reads as a whole": f"{planner.WHOLE:,}",
    "blocks that one query reads": f"{planner.MAX_BLOCKS:,}",
    "blocks whose sort entries one summary reads": f"{aggregate_planner.MAX_QUERIES}",
    "intersections of sets for groups": f"{aggregate_planner.MAX_WORK:,}",
    "new issues that need no token": f"{planner.CANDIDATES:,}",
    "projects of a tenant": f"{Settings().projects_per_tenant:,}",
    "attributes of a project": f"{catalog.MAX_ATTRIBUTES}",
    "attributes with an index by default": f"{catalog.INDEXED_BY_DEFAULT}",
    "deleted attributes that can be restored": f"{catalog.MAX_ATTRIBUTES}",
    "days for which deleted attributes and projects can be restored": f"{restorable.KEPT_DAYS:.0f}",
    "a project with its attributes and options, also dropped ones": megabytes(answers.MAX_PROJECT_BYTES),
    "options or states": f"{fields.MAX_OPTIONS}",
    "options of a field, with the dropped ones": kilobytes(options.MAX_STORED_BYTES),
    "composite indexes of a project": f"{catalog.MAX_COMPOSITES}",
    "characters of the name of a project": f"{requests.MAX_PROJECT_NAME_LENGTH:,}",
    "characters of the name of an attribute": f"{requests.MAX_NAME_LENGTH}",
    "characters of the description of a field": f"{requests.MAX_DESCRIPTION_LENGTH:,}",
    "digits after the point, characters of the unit and stars of a format": (
        f"{field_formats.MAX_DECIMALS}, {field_formats.MAX_UNIT_LENGTH} and {field_formats.MAX_RATING}"
    ),
    "characters of an option or state": f"{options.MAX_VALUE_LENGTH}",
    "days of history": f"{requests.MAX_HISTORY_DAYS:,}",
    "characters of the text of a formula": f"{lexer.MAX_FORMULA_LENGTH:,}",
    "fields, values, operators and functions of a formula (SQRT and POWER count as five)": f"{parser.MAX_NODES}",
    "levels of a formula": f"{parser.MAX_NESTING}",
    "formulas on formulas": f"depth {definition.MAX_FORMULA_DEPTH}",
    "parts of a formula, with the parts of formulas that it reads": f"{definition.MAX_EXPANDED}",
    "parts of all formulas of a project, with all that they read": f"{definition.MAX_EXPANDED_OF_PROJECT:,}",
    "indexes of other fields that another formula rebuilds": f"{formulas.MOST_REBUILT}",
    "issues of one check of a formula": f"{requests.MAX_CHECKED}",
    "characters of a text within a formula": f"{parts.MAX_TEXT:,}",
    "characters that functions and comparisons of one formula read for an issue": f"{parts.MAX_CHARACTERS_READ:,}",
    "whole exponent of POWER, in either direction": f"{numbers.MAX_EXPONENT:,}",
    "issues of a project": f"{issues.MAX_ISSUES:,}",
    "issue numbers of a project": f"{ids.MAX_ISSUE_NUMBER:,}",
    "an issue": kilobytes(documents.MAX_DOCUMENT_BYTES),
    "indexed values of an issue, compressed": f"{room.MAX_STRINGS_BYTES // 1_000} KB",
    "characters of a text, also of the name of an issue": f"{values.TEXT_LIMIT:,}",
    "characters of a text that orders and ranges compare": f"{sort_strings.TEXT_WIDTH}",
    "characters of a user id": f"{values.USER_LIMIT}",
    "characters of the prefix of users": f"{actor.MAX_NAME}",
    "significant digits of a number": f"{values.NUMBER_DIGITS}",
    "magnitude of a number": f"1E{values.NUMBER_MIN_EXPONENT} to 9.99E+{values.NUMBER_MAX_EXPONENT}",
    "characters of a number": f"{values.MAX_NUMBER_CHARACTERS:,}",
    "days in the trash": f"{trash.KEPT_DAYS:.0f}",
    "comments of an issue": f"{comments.MAX_COMMENTS:,}",
    "ids of comments of an issue": f"{ids.MAX_COMMENT_ID:,}",
    "characters of a comment": f"{comments.MAX_COMMENT_LENGTH:,}",
    "users whom a comment mentions": f"{comments.MAX_MENTIONS}",
    "shared views of a project": f"{views.MAX_SHARED_VIEWS}",
    "private views of a user in a project": f"{views.MAX_PRIVATE_VIEWS}",
    "numbers of views of a project": f"{ids.MAX_VIEW_NUMBER:,}",
    "manual orders of a project": f"{manual_orders.MAX_MANUAL_ORDERS}",
    "issues placed by one request": f"{requests.MAX_OPERATIONS}",
    "placements in a project that the index lacks": f"{placements.MOST:,}",
    "characters of a rank in a manual order": (
        f"{fractional_keys.MAX_KEY}; more than {fractional_keys.LONG_KEY} are rebalanced"
    ),
    "a view": kilobytes(views.MAX_VIEW_BYTES),
    "characters of the name of a view": f"{view_request.MAX_NAME_LENGTH}",
    "pixels of the width of a column": f"{view_request.MIN_COLUMN_WIDTH} to {view_request.MAX_COLUMN_WIDTH:,}",
    "pixels of the height of a row": f"{view_request.MIN_ROW_HEIGHT} to {view_request.MAX_ROW_HEIGHT}",
    "columns of a board that a view names": f"{view_request.MAX_BOARD_COLUMNS}",
    "fields of a card of a board": f"{view_request.MAX_CARD_FIELDS}",
    "limit of a column of a board": f"{view_request.MAX_CARDS:,}",
    "missing parts that a view lists": f"{view_filters.MAX_MISSING}",
    "a filter of a view in an answer": megabytes(view_answers.MAX_FILTER_BYTES),
    "issues that one request undoes": f"{undo.MAX_AT_ONCE}",
    "issues in the nums of an undo": f"{requests.MAX_OPERATIONS}",
    "the filter and values of a job": f"{jobs.MAX_ASKED_BYTES // 1_000} KB",
    "rows of a bulk change": f"{bulk_request.MAX_ROWS:,}",
    "fields and characters of a text that a bulk change replaces": (
        f"{bulk_edits.MAX_REPLACED_FIELDS} and {bulk_edits.MAX_FIND_LENGTH}"
    ),
    "examples of a dry run": f"{previews.MAX_EXAMPLES}, with {previews.MAX_EXAMPLE_BYTES // 1000} KB together",
    "open jobs of a user": f"{user_jobs.MOST_OF_USER}, of which {user_jobs.MOST_EXPORTS_OF_USER} exports",
    "open jobs of a project": f"{user_jobs.MOST_OF_PROJECT}, of which {user_jobs.MOST_EXPORTS_OF_PROJECT} exports",
    "open jobs of a tenant": f"{user_jobs.MOST_OF_TENANT}",
    "days for which a job is listed": f"{user_jobs.KEPT_DAYS:.0f}",
    "parts of an exported file": f"{export.MOST_PARTS:,}, or 120 GB",
    "days for which an exported file is kept": f"{export_files.FILE_DAYS}",
    "seconds for which a link to a file is valid": f"{export_links.LINK_SECONDS}",
    "seconds that a request waits": f"{change_requests.MAX_WAIT}",
    "days for which changes can be read": f"{history.FEED_DAYS}",
    "open long polls of a user": f"{poll_limits.MOST_OF_USER}",
    "open long polls of a tenant": "a third of what live may run; without a reservation a fifth of the concurrency, "
    "below 50 a tenth",
    "long polls of a user in flight": f"{poll_limits.MOST_IN_FLIGHT}",
    "open sockets of a tenant": f"{sockets.MAX_SOCKETS}",
    "open sockets of a user": f"{seats.MAX_USER_SOCKETS}",
    "subscriptions of a socket": f"{seats.MAX_SUBSCRIPTIONS}",
    "different rows that a user follows": f"{seats.MAX_USER_ROWS}",
    "messages of a socket": f"{sockets.MESSAGES} at once, {sockets.MESSAGES_PER_SECOND} a second",
    "sockets and subscriptions that a user begins": f"{seats.STARTS} at once, {seats.STARTS_PER_SECOND} a second",
    "a message of a socket": f"{socket_messages.MAX_FRAME_BYTES:,} bytes",
    "seconds for which a ticket is valid": f"{tickets.TICKET_SECONDS:.0f}",
    "minutes for which a socket is open": f"{sockets.MAX_SECONDS / 60:.0f}",
    "minutes without a message of the client": f"{sockets.IDLE_SECONDS / 60:.0f}",
    "users that people lists": f"{presence.MAX_PEOPLE}",
    "webhooks of a project": f"{webhook_store.MAX_WEBHOOKS}",
    "characters of the address of a webhook": f"{targets.MAX_URL:,}",
    "a message to a webhook": kilobytes(messages.MOST_BYTES_SENT),
    "seconds of one attempt": f"{sending.SECONDS:.0f}",
    "attempts of one delivery": f"{len(retries.DELAYS) + 1}",
    "the answer of a receiver": kilobytes(sending.MOST_BYTES),
    "days for which deliveries are listed": f"{outbox.DELIVERY_DAYS}",
    "writes of a tenant": f"{Settings().writes_per_second} a second, over {write_rate.WINDOW} s",
    "requests of one endpoint by all callers": f"{THROTTLE.requests_per_second} a second",
    "long queries of a user": (
        f"{Settings().work_share}% of a container's time below a concurrency of 50, "
        f"{Settings(account_concurrency=50).work_share}% below 1,000; a tenant twice that"
    ),
    "seconds of a query that count as no work": f"{work_shares.FREE_SECONDS}",
}
"""Each row of the page with its limit; several rows of one name are a list."""

ATTRIBUTES = ("AttributeCreate", "AttributePatch")
VIEWS = ("ViewCreate", "ViewPatch")
WEBHOOKS = ("WebhookCreate", "WebhookPatch")

DOCUMENT: dict[str, Any] = json.loads(dumps(document()))

INTERNAL = {
    "blocks.MAX_BYTES",
    "committer.MAX_ITEM_BYTES",
    "expressions.MAX_EXPRESSION_BYTES",
    "export.MOST_RESTARTS",
    "feed_cursors.MAX_AHEAD",
    "fold.MOST",
    "grid.MAX_RESPONSE_BYTES",  # that of an answer, less what surrounds the rows
    "items.MAX_BYTES",
    "job_line.MOST_FAILURES",
    "derived_keys.MAX_JOURNAL_NUMBER",
    "derived_keys.MAX_VERSION",
    "sealing.MAX_AGE",
    "socket_messages.MAX_ITEMS_BYTES",
    "sort_strings.MAX_OPTIONS",  # that of the catalog
}
"""The limits that no caller meets."""


def test_the_table_of_limits_has_the_values_of_the_code() -> None:
    found: dict[str, list[str]] = {}
    for what, limit, beyond in table_in(PAGE, "## All limits"):
        if what.startswith("**"):
            continue
        assert limit
        assert beyond, what
        found.setdefault(what, []).append(limit)
    assert found == {what: [limit] if isinstance(limit, str) else limit for what, limit in LIMITS.items()}


def test_the_table_of_limits_leaves_out_no_limit() -> None:
    """Every public constant `MAX_…` or `MOST_…` of the core is in the table, or no caller meets it."""
    constants = {
        f"{file.stem}.{name}"
        for file in CORE.rglob("*.py")
        for name in re.findall(
            r"^((?:MAX|MOST)(?:_[A-Z]+)*)\b[^=\n]*= ", file.read_text("utf-8"), re.MULTILINE
        )
    }
    named = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse(Path(__file__).read_text("utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    assert len(constants) > 50
    assert constants - named == INTERNAL


OF_REQUESTS = {
    "rules of a grid request or a view": ["GridRequest.rules", "ViewCreate.rules", "ViewPatch.rules"],
    "rows, or items of another list, of a result page": ["?limit", "GridRequest.limit"],
    "groups of a result page": ["GroupsRequest.limit"],
    "offset": ["?offset", "GridRequest.offset", "RowsInput.from", "RowsInput.to"],
    "columns": [f"{name}.columns" for name in ("GridRequest", "ExportQuery", *VIEWS, *WEBHOOKS)],
    "keys of a sort or a composite index": [
        *(f"{name}.sort" for name in ("GridRequest", "ExportQuery", "RowsInput", "ViewQuery")),
        "CompositeCreate.sort",
    ],
    "conditions of a filter, parts of and and or": ["AndFilter.and", "OrFilter.or"],
    "values of in and not_in": ["ListCondition.value"],
    "units from today in either direction": ["TodayOperand.today"],
    "seconds from now in either direction": ["NowOperand.now"],
    "characters of the name of a time zone": ["GroupBy.timezone", "TodayOperand.timezone"],
    "fields of groups": ["GroupsRequest.by", "ViewCreate.groups", "ViewPatch.groups"],
    "aggregates of groups": ["GroupsRequest.aggregates"],
    "bounds of ranges of numbers (bins)": ["GroupBy.bins"],
    "fields of a summary, footers of a view": [
        "SummaryRequest.fields",
        "ViewCreate.footers",
        "ViewPatch.footers",
    ],
    "properties of an object": ["Operation.create", "UpdateMatching.set", "UpdateOperation"],
    "values of an issue": ["IssueCreate.fields", "IssuePatch.fields"],
    "operations of a batch": ["BatchRequest.operations"],
    "issues placed by one request": ["OrderRequest.nums"],
    "issues in the nums of an undo": ["UndoRequest.nums"],
    "options or states": [
        *(f"{name}.states" for name in ("ProjectCreate", "ProjectPatch")),
        *(f"{name}.{part}" for name in ATTRIBUTES for part in ("options", "default")),
        # The values of sets of options, of which no value can have more than its field.
        *("IssueCreate.fields", "IssuePatch.fields"),
        *("OptionsCondition.value", "RangeCondition.value", "ValueCondition.value"),
    ],
    "characters of an option or state": [
        *("OptionInput.value", "ProjectCreate.states", "ProjectPatch.states"),
        *(f"{name}.options" for name in ATTRIBUTES),
    ],
    "characters of the name of a project": ["ProjectCreate.name", "ProjectPatch.name"],
    "characters of the name of an attribute": [f"{name}.name" for name in ATTRIBUTES],
    "characters of the description of a field": [f"{name}.description" for name in ATTRIBUTES],
    "digits after the point, characters of the unit and stars of a format": [
        *("FormatInput.decimals", "FormatInput.unit", "FormatInput.max"),
    ],
    "days of history": ["HistoryInput.days"],
    "characters of the text of a formula": [f"{name}.formula" for name in (*ATTRIBUTES, "FormulaCheck")],
    "issues of one check of a formula": ["FormulaCheck.nums"],
    "issue numbers of a project": [
        *("?num", "FormulaCheck.nums", "UndoRequest.nums"),
        *("OrderRequest.nums", "OrderRequest.before", "OrderRequest.after"),
    ],
    "characters of a text, also of the name of an issue": [
        *("IssueCreate.name", "IssuePatch.name", "ReplaceInput.with"),
    ],
    "characters of a user id": ["?by", "?mentions", "UndoRequest.by"],
    "characters of the prefix of users": ["?prefix"],
    "ids of comments of an issue": ["?comment"],
    "characters of a comment": ["CommentCreate.text", "CommentPatch.text"],
    "users whom a comment mentions": ["CommentCreate.mentions", "CommentPatch.mentions"],
    "characters of the name of a view": ["ViewCreate.name", "ViewPatch.name"],
    "pixels of the width of a column": ["ViewColumn.width"],
    "pixels of the height of a row": ["ViewCreate.row_height", "ViewPatch.row_height"],
    "columns of a board that a view names": ["Board.columns"],
    "fields of a card of a board": ["Board.card"],
    "limit of a column of a board": ["BoardColumn.limit"],
    "fields and characters of a text that a bulk change replaces": [
        *("ReplaceInput.fields", "ReplaceInput.find"),
    ],
    "seconds that a request waits": ["?wait"],
    "characters of the address of a webhook": [f"{name}.url" for name in WEBHOOKS],
}
"""The rows that bound a property of a request in the OpenAPI document, with these properties; `?` begins a parameter."""

BY_NATURE = {
    "FieldFunctions.functions",  # each function once
    "GroupOrdering.by",  # the place of an aggregate
    "Operation",  # one of create, update and delete
    "RangeCondition.value",  # two ends
    *(f"{name}.events" for name in WEBHOOKS),  # each event once
}
"""The properties whose bound says what the property is."""


def test_every_bound_of_a_request_is_the_limit_of_its_row() -> None:
    """So no row is about more than its constant, and no bound has no row."""
    rows: dict[str, set[str]] = {}
    for row, properties in OF_REQUESTS.items():
        for one in properties:
            rows.setdefault(one, set()).update(re.findall(r"\d+(?:,\d{3})*", str(LIMITS[row])))
    found = set(bounds(DOCUMENT))
    assert {one for one, _ in found} == {*rows, *BY_NATURE}
    wrong = {
        (one, bound) for one, bound in found if f"{bound:,}" not in rows.get(one, ()) and one not in BY_NATURE
    }
    assert wrong == set()


def bounds(document: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """The upper bounds in the requests of a document, each with its property."""
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    for operation in operations:
        for parameter in operation["parameters"]:
            yield from bounds_in(parameter["schema"], f"?{parameter['name']}")
    schemas = document["components"]["schemas"]
    known, left = set[str](), references([one.get("requestBody") for one in operations])
    while left:
        known |= left
        left = references([schemas[name] for name in left]) - known
    for name in known:
        yield from bounds_in(schemas[name], name)


def references(node: Any) -> set[str]:
    """The names of the schemas to which a part of a document refers."""
    return set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(node)))


def bounds_in(node: Any, place: str) -> Iterator[tuple[str, int]]:
    """The upper bounds in a schema of this place, each with its property."""
    if isinstance(node, list):
        for one in node:
            yield from bounds_in(one, place)
    elif isinstance(node, dict):
        for name, value in node.items():
            if name in {"maxLength", "maxItems", "maxProperties", "maximum"}:
                yield place, value
            elif name == "properties":
                for one, schema in value.items():
                    yield from bounds_in(schema, f"{place}.{one}")
            else:
                yield from bounds_in(value, place)


def test_the_open_polls_of_a_tenant_are_those_of_the_page() -> None:
    polls = {most: Settings(account_concurrency=most).open_polls for most in (40, 100, 1_000)}
    assert polls == {40: 4, 100: 20, 1_000: (Settings(account_concurrency=1_000).reserved("live") or 0) // 3}


def test_the_longest_idempotency_key_is_the_one_of_the_page() -> None:
    assert idempotency.KEY.fullmatch("k" * 255)
    assert not idempotency.KEY.fullmatch("k" * 256)


def test_the_largest_exported_file_is_the_one_of_the_page() -> None:
    small = export.SMALL_PARTS * export.PART
    large = (export.MOST_PARTS - export.SMALL_PARTS) * export.LARGE_PART
    assert (small + large) / 2**30 == pytest.approx(120, abs=1)

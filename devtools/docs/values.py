"""The values that pages show in sentences and tables, each by its name.

They come from the constants of the code, the settings, the table of prices of docs/costs.md and the tables of figures of
docs/performance.md. A figure of those tables was measured, and its page says by which command.
"""

import math
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from devtools.docs.markers import Value
from devtools.local import demo, tokens
from devtools.paths import ROOT
from devtools.proof.drawn_mutants import sampling
from devtools.proof.prove import proofs
from devtools.prose import rules
from gridview.api import compression, work_shares
from gridview.commands import answers, batch, issues, requests, undo, write_rate
from gridview.encoding import consistency, sort_strings
from gridview.live import (
    change_requests,
    changes,
    delivery_attempts,
    messages,
    outbox,
    poll_limits,
    presence,
    push_shares,
    retries,
    seats,
    sending,
    socket_messages,
    sockets,
    tickets,
    webhook_store,
)
from gridview.maintenance import bulk_edits, export, export_files, export_links, job_line, job_worker, waiting
from gridview.query import (
    aggregate_planner,
    grid_request,
    group_request,
    operators,
    page,
    planner,
    predicates,
    relative_operands,
    summary_request,
    view_request,
)
from gridview.query import rules as grid_rules
from gridview.schema import (
    catalog,
    comments,
    documents,
    history,
    manual_orders,
    placements,
    remembered,
    restorable,
    trash,
    user_jobs,
    views,
)
from gridview.support import errors
from infra import limits
from infra.backup import KEPT
from infra.functions import FUNCTIONS
from infra.ingress import PUBLIC_REFUSED_THROTTLE, PUBLIC_THROTTLE, REFUSED_THROTTLE, THROTTLE
from infra.routes import BY_PATH
from infra.settings import UNRESERVED, Settings

_COSTS: Final = "docs/costs.md"
_PERFORMANCE: Final = "docs/performance.md"

_DEFAULT: Final = Settings()
_KB: Final = 1_024


def values() -> dict[str, Value]:
    """Every value by its name."""
    return {
        **_of_projects(),
        **_of_queries(),
        **_of_changes(),
        **_of_operation(),
        **_of_bills(),
        **_of_figures(),
    }


def _of_projects() -> dict[str, Value]:
    """Limits and periods of projects, their issues and everything that is written into them."""
    days = requests.HistoryInput.model_json_schema()["properties"]["days"]
    return {
        "attributes": catalog.MAX_ATTRIBUTES,
        "description": requests.MAX_DESCRIPTION_LENGTH,
        "attributes.indexed": catalog.INDEXED_BY_DEFAULT,
        "batch.mb": batch.MAX_ANSWER_BYTES // 1_000_000,
        "batch.operations": requests.MAX_OPERATIONS,
        "comment.characters": comments.MAX_COMMENT_LENGTH,
        "comment.mentions": comments.MAX_MENTIONS,
        "comments": comments.MAX_COMMENTS,
        "composites": catalog.MAX_COMPOSITES,
        "orders.manual": manual_orders.MAX_MANUAL_ORDERS,
        "history.days.longest": int(days["maximum"]),
        "issue.kb": -(-documents.MAX_DOCUMENT_BYTES // _KB),
        "issues": issues.MAX_ISSUES,
        "jobs.days": int(user_jobs.KEPT_DAYS),
        "jobs.project": user_jobs.MOST_OF_PROJECT,
        "jobs.project.exports": user_jobs.MOST_EXPORTS_OF_PROJECT,
        "jobs.tenant": user_jobs.MOST_OF_TENANT,
        "jobs.user": user_jobs.MOST_OF_USER,
        "jobs.user.exports": user_jobs.MOST_EXPORTS_OF_USER,
        "key.hours": int(remembered.KEPT_DAYS * 24),
        "project.id.days": job_worker.PROJECT_TOMBSTONE_DAYS,
        "project.mb": answers.MAX_PROJECT_BYTES // 1_000_000,
        "restorable.days": int(restorable.KEPT_DAYS),
        "trash.days": int(trash.KEPT_DAYS),
        "undo.issues": undo.MAX_AT_ONCE,
        "view.kb": views.MAX_VIEW_BYTES // _KB,
        "views.private": views.MAX_PRIVATE_VIEWS,
        "views.shared": views.MAX_SHARED_VIEWS,
        "writes.second": _DEFAULT.writes_per_second,
        "writes.window": write_rate.WINDOW,
    }


def _of_queries() -> dict[str, Value]:
    """Limits of queries."""
    return {
        "errors": errors.MAX_ERRORS,
        "problem.kb": errors.MAX_PROBLEM_BYTES // _KB,
        "compression.bytes": compression.LEAST_BYTES,
        "aggregates.documents": aggregate_planner.MAX_DOCUMENTS,
        "candidates": planner.CANDIDATES,
        "composite.bytes": sort_strings.COMPOSITE_BYTES,
        "filter.conditions": predicates.MAX_CONDITIONS,
        "filter.levels": predicates.MAX_DEPTH,
        "list.values": operators.MAX_VALUES,
        "operands.units": relative_operands.MAX_UNITS,
        "operands.seconds": relative_operands.MAX_SECONDS,
        "rows": grid_request.MAX_LIMIT,
        "rules": grid_rules.MAX_RULES,
        "board.card": view_request.MAX_CARD_FIELDS,
        "board.columns": view_request.MAX_BOARD_COLUMNS,
        "replace.fields": bulk_edits.MAX_REPLACED_FIELDS,
        "rows.default": grid_request.GridRequest().limit,
        "rows.mb": page.MAX_PAGE_BYTES // 1_000_000,
        "summary.blocks": aggregate_planner.MAX_QUERIES,
        "summary.fields": summary_request.MAX_FIELDS,
        "groups.bins": group_request.MAX_BINS,
        "groups.ranked": aggregate_planner.MAX_RANKED,
        "text.compared": sort_strings.TEXT_WIDTH,
        "token.issues": consistency.MAX_ISSUES,
        "orders.pending": placements.MOST,
        "token.seconds": consistency.SECONDS,
        "whole": planner.WHOLE,
        "work.free": Decimal(str(work_shares.FREE_SECONDS)),
        "work.window": int(work_shares.WINDOW),
    }


def _of_changes() -> dict[str, Value]:
    """Limits of the feed of changes, of sockets and webhooks."""
    return {
        "deliveries.days": outbox.DELIVERY_DAYS,
        "delivery.attempts": len(retries.DELAYS) + 1,
        "delivery.failures": retries.DOWN,
        "delivery.kb": messages.MOST_BYTES_SENT // _KB,
        "delivery.seconds": int(sending.SECONDS),
        "delivery.slow": int(outbox.SLOW),
        "delivery.together": delivery_attempts.AT_ONCE,
        "feed.days": history.FEED_DAYS,
        "feed.events": changes.MAX_EVENTS,
        "feed.wait": change_requests.MAX_WAIT,
        "file.days": export_files.FILE_DAYS,
        "file.parts": export.MOST_PARTS,
        "link.minutes": export_links.LINK_SECONDS // 60,
        "people": presence.MAX_PEOPLE,
        "poll.mb": FUNCTIONS["live"].memory_mib,
        "poll.units": math.ceil((change_requests.MAX_WAIT / changes._PAUSE + 1) / 2),
        "polls.flight": poll_limits.MOST_IN_FLIGHT,
        "polls.shortest": int(poll_limits.SHORTEST),
        "polls.user": poll_limits.MOST_OF_USER,
        "pushes.seconds": Decimal(str(push_shares.BATCH_SECONDS)),
        "socket.bytes": socket_messages.MAX_FRAME_BYTES,
        "socket.hours": int(sockets.MAX_SECONDS // 3_600),
        "socket.idle": int(sockets.IDLE_SECONDS // 60),
        "socket.messages": sockets.MESSAGES,
        "socket.messages.second": sockets.MESSAGES_PER_SECOND,
        "socket.minutes": int(sockets.MAX_SECONDS % 3_600 // 60),
        "socket.subscriptions": seats.MAX_SUBSCRIPTIONS,
        "sockets.rows": seats.MAX_USER_ROWS,
        "sockets.tenant": sockets.MAX_SOCKETS,
        "sockets.user": seats.MAX_USER_SOCKETS,
        "sockets.user.next": seats.MAX_USER_SOCKETS + 1,
        "starts": seats.STARTS,
        "starts.second": seats.STARTS_PER_SECOND,
        "ticket.seconds": int(tickets.TICKET_SECONDS),
        "webhooks": webhook_store.MAX_WEBHOOKS,
    }


def _of_operation() -> dict[str, Value]:
    """Numbers of a deployment, of the local stack and of the proofs."""
    return {
        "answer.seconds": limits.ANSWER_SECONDS,
        "backup.days": int(KEPT.to_days()),
        "checkpoint.issues": job_worker.BATCH,
        "demo.issues": demo.ISSUES,
        "edit.units": limits.UNITS_OF_AN_EDIT,
        "fold.minutes": _DEFAULT.fold_seconds // 60,
        "fold.weight": _DEFAULT.fold_weight,
        "functions": len(FUNCTIONS),
        "import.rate": limits.IMPORTED_PER_SECOND,
        "key.units": limits.KEY_WRITE_UNITS,
        "letters.days": limits.RETENTION_DAYS,
        "local.token.hours": tokens.LIFETIME_SECONDS // 3_600,
        "logs.days": _DEFAULT.log_days,
        "logs.days.dev": Settings(stage="dev").log_days,
        "paths": len(BY_PATH),
        "proof.changes": proofs.CHANGES_SCENARIOS,
        "proof.engine": proofs.ENGINE_SCENARIOS,
        "proof.imports": proofs.IMPORT_SCENARIOS,
        "proof.mutants": sampling.MUTANTS,
        "proof.mutants.minutes": int(sampling.SECONDS // 60),
        "proof.queries": proofs.QUERIES + proofs.TRACKER_QUERIES + proofs.ENGINE_QUERIES,
        "proof.scenarios": proofs.SCENARIOS,
        "proof.tokens": proofs.TOKEN_SCENARIOS,
        "proof.relative": proofs.RELATIVE_QUERIES,
        "proof.writers": proofs.WRITER_SCENARIOS,
        "reserve.least": next(
            most for most in range(1_000) if Settings(account_concurrency=most).reserved("live")
        ),
        "reserve.live": FUNCTIONS["live"].reserved_percent,
        "reserve.socket": FUNCTIONS["socket"].reserved_percent,
        "unreserved": UNRESERVED,
        "waiting.seconds": waiting.FIRST_WAIT,
        "job.failures": job_line.MOST_FAILURES,
        "records.hours": limits.MAX_RECORD_AGE_HOURS,
        "sentence.words": rules.LONGEST_SENTENCE,
        "settle.seconds": limits.SETTLE_SECONDS,
        "throttle": THROTTLE.requests_per_second,
        "throttle.public": PUBLIC_THROTTLE.requests_per_second,
        "throttle.wrong": REFUSED_THROTTLE.requests_per_second,
        "throttle.wrong.public": PUBLIC_REFUSED_THROTTLE.requests_per_second,
        "token.minutes": limits.TOKEN_MINUTES,
    }


def _of_bills() -> dict[str, Value]:
    """Prices, and the bills that docs/costs.md makes of them. Tests check that it adds them up correctly."""

    def bill(start: str) -> Decimal:
        return Decimal(_cells(_COSTS, "## The idle bill", start)[-1])

    def million(call: str) -> Decimal:
        return Decimal(_cells(_COSTS, "## A million calls", call)[-1])

    def price(what: str) -> Decimal:
        return Decimal(_cells(_COSTS, "## Prices", what)[1])

    memory_gb = Decimal(FUNCTIONS["live"].memory_mib) / _KB
    poll = change_requests.MAX_WAIT * memory_gb * price("Lambda on ARM")
    polls = Decimal(_cells(_COSTS, "## The idle bill", "queues of jobs and webhooks")[2])
    return {
        "bill.idle": _whole(bill("all of it")),
        "bill.idle.dev": _whole(bill("the same with")),
        "bill.snapshots": bill("SnapStart"),
        "bill.polls.jobs": polls,
        "bill.polls.webhooks": 2 * polls,
        "million.changes": _whole(million("`changes`")),
        "million.create": _whole(million("`create_issue`")),
        "million.health": _whole(million("`health`")),
        "poll.dollars": _rounded(poll, "0.00001"),
        "poll.dollars.day": _rounded(poll * 86_400 / change_requests.MAX_WAIT, "0.01"),
        "price.backup": price("AWS Backup"),
        "price.cloudfront": price("CloudFront request"),
        "price.gateway.gb": price("egress by API Gateway"),
        "price.cloudfront.gb": price("egress by CloudFront"),
        "price.kms": price("KMS key"),
        "price.metric": price("metric"),
        "price.read": price("read unit"),
        "price.recovery": price("point-in-time recovery"),
        "price.storage": price("data in table or index"),
        "price.write": price("write unit"),
    }


def _of_figures() -> dict[str, Value]:
    """Measured figures of docs/performance.md that other sentences repeat."""
    queries = {
        "page": "a page by an indexed field",
        "sort": "filtered (1 %) and sorted",
        "jump": "row N of an order, its middle",
        "count": "an exact count under a filter",
    }
    found: dict[str, Value] = {}
    for name, start in queries.items():
        row = [_numbers(cell) for cell in _cells(_PERFORMANCE, "## A query", start)]
        found |= {f"{name}.units": row[2][0], f"{name}.units.warm": row[2][1]}
        found |= {f"{name}.ms": row[3][0], f"{name}.ms.warm": row[3][1]}
        found |= {f"{name}.eav.ms": row[4][0], f"{name}.jsonb.ms": row[4][1]}
    edit = _cells(_PERFORMANCE, "### By the changes of a fold", "edit of one field of an old issue")
    alone, imports = (
        _cells(_PERFORMANCE, "### Sharing", start) for start in ("does nothing", "imports 10,000 issues")
    )
    (one, many) = (_cells(_PERFORMANCE, "### Many consumers", consumers) for consumers in ("1", "16"))
    accepted = _cells(_PERFORMANCE, "### By the changes of a fold", "10,000 rows of NYC, 13 columns")
    del found["page.ms.warm"]  # no sentence has it
    return found | {
        "edit.units.alone": _whole(_numbers(edit[2])[0]),
        "edit.units.shared": _whole(_numbers(edit[4])[0]),
        "import.seconds": _whole(_numbers(accepted[1])[0]),
        "neighbor.seconds": _rounded((_numbers(imports[1])[0] - _numbers(alone[1])[0]) / 1_000, "0.01"),
        "consumers.one": _numbers(one[1])[0],
        "consumers.sixteen": _numbers(many[1])[0],
    }


def _cells(path: str, heading: str, start: str) -> list[str]:
    """The cells of the first row below a heading whose first cell begins so."""
    below = (ROOT / path).read_text("utf-8").partition(f"\n{heading}\n")[2]
    line = next(line for line in below.splitlines() if re.match(rf"\| {re.escape(start)}(?!\w)", line))
    return [cell.strip() for cell in line.strip("|").split("|")]


def _numbers(cell: str) -> list[Decimal]:
    return [
        Decimal(one.replace(",", "")) for one in re.findall(r"\d[\d,.]*", re.sub(r"<!--.*?-->", "", cell))
    ]


def _whole(number: Decimal) -> int:
    return int(number.to_integral_value(ROUND_HALF_UP))


def _rounded(number: Decimal, step: str) -> Decimal:
    return number.quantize(Decimal(step), ROUND_HALF_UP)

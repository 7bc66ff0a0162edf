"""Reads what an outbox has to send: messages that are due for another attempt, and messages for the changes
after its position.

It sends nothing and moves no outbox: `DueMessages.outbox` is the outbox as the page shows it, for the holder
to save.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from gridview.dynamodb.table import Table
from gridview.journal.history import read_changes as read_history
from gridview.journal.log import Log
from gridview.live.feed import FeedPage, read_changes
from gridview.live.followed_rows import RowMove
from gridview.live.messages import WebhookMessage
from gridview.live.outbox import RESET, Delivery, Outbox, RowKeys
from gridview.live.outbox_store import OutboxStore
from gridview.live.row_moves import Unjudged, Verdict, moves_of
from gridview.live.webhook import Webhook
from gridview.schema.catalog import Catalog
from gridview.schema.computed_fields import may_change
from gridview.schema.history import Change, event_json
from gridview.schema.store import Catalogs
from gridview.support import clock

_PAGE: Final = 100
"""Changes that are read together."""

_FORGOTTEN: Final = "Nothing was sent: the change in the message has expired."
_OTHER_ROWS: Final = "Nothing was sent: an administrator has chosen other rows since."


class Retries(NamedTuple):
    """Messages that are due for another attempt, and deliveries with the reason why they get none."""

    messages: list[WebhookMessage]
    hopeless: list[tuple[Delivery, str]]


class DueMessages(NamedTuple):
    """The messages of a result page of the feed.

    `outbox`: the outbox as the page shows it. `page` ends before the first change whose row cannot be judged
    yet. `outdated`: when the rows of the view become others, because it is another day then (seconds since 1970);
    None: never.
    """

    outbox: Outbox
    page: FeedPage
    messages: list[WebhookMessage]
    outdated: float | None = None


def retries_of(store: OutboxStore, webhook: Webhook, limit: int) -> Retries:
    """Return up to `limit` deliveries that are due for another attempt, with the changes that they report.

    1 read unit; for each delivery 1 more, and 1 for each 4 KB of its change.
    """
    deliveries = store.due_retries(limit)
    wanted = [(one.num, one.version) for one in deliveries if one.num is not None and one.version is not None]
    found = read_history(store.table, store.tenant, store.project, wanted, consistent=True) if wanted else {}
    retries = Retries([], [])
    for one in deliveries:
        if one.num is None or one.version is None:
            retries.messages.append(WebhookMessage(one, None))
        elif one.choice != webhook.choice:
            retries.hopeless.append((one, _OTHER_ROWS))
        elif (one.num, one.version) in found:
            retries.messages.append(WebhookMessage(one, found[one.num, one.version]))
        else:
            retries.hopeless.append((one, _FORGOTTEN))
    return retries


def read_page(
    store: OutboxStore, catalogs: Catalogs, catalog: Catalog, outbox: Outbox, left: Callable[[], float]
) -> FeedPage:
    """Return the next page of the feed after an outbox's position. Strongly consistent, since a hint comes
    once, moments after a commit.

    Empties the numbers at which the feed waits for too long. After a restore of the table to an earlier
    moment, deletes the deliveries of numbers that the journal gives out again. It stops when the seconds in
    `left` are over.

    Costs and errors: as for `read_changes`, and 1 write unit for each number.
    """
    page = read_changes(store.table, catalogs, catalog, outbox.position, _PAGE, consistent=True)
    if page.position.number < outbox.position.number:  # the table was restored to an earlier moment
        store.forget_from(page.position.number, left)
    for number in page.overdue:
        Log(store.table, store.tenant, store.project).close(number)
    return page


def messages_on(table: Table, webhook: Webhook, outbox: Outbox, page: FeedPage) -> DueMessages:
    """Return the messages of a page's changes. Reads: none without a view, else as for `moves_of`.

    A view's rows are those of the present day. If they were others, there is a reset first.

    IndexNotReady, QueryTooExpensive, UnfollowableFilter, InvalidRequest and Conflict of the frozen view.
    """
    if webhook.view is None:
        return DueMessages(outbox, page, list(_messages(webhook, outbox, page, None)))
    rows = webhook.view.rows(page.catalog, clock.stored(clock.seconds()))
    others = outbox.rows not in ("", rows.fingerprint)
    outbox = replace(outbox, rows=rows.fingerprint, missed=outbox.missed or others)
    verdicts = moves_of(table, page.catalog, rows, page.events)
    if Unjudged.YET in verdicts:
        count = verdicts.index(Unjudged.YET)
        page, verdicts = _cut(page, count, outbox), verdicts[:count]
    # A project where nothing changes has a reset at each midnight, all at one place of the feed.
    day = "" if rows.valid is None else rows.fingerprint
    outdated = None if rows.valid is None else rows.valid.end
    return DueMessages(outbox, page, list(_messages(webhook, outbox, page, verdicts, day)), outdated)


def _cut(page: FeedPage, count: int, outbox: Outbox) -> FeedPage:
    """Return the first changes of a page, as a page that waits for the rest."""
    return replace(
        page,
        events=page.events[:count],
        ends=page.ends[:count],
        position=page.ends[count - 1] if count else outbox.position,
        overdue=(),
        ended=True,
        held=True,
    )


def _messages(
    webhook: Webhook, outbox: Outbox, page: FeedPage, verdicts: Sequence[Verdict] | None, day: str = ""
) -> Iterator[WebhookMessage]:
    """Return the messages of a page; `verdicts`: the effect of each change on the rows of the view, None if
    it follows all issues. `day`: the fingerprint of rows that depend on the day.
    """
    number, place, *_ = outbox.position
    reset = Delivery(number, place, RESET, clock.now(), outbox=outbox.begun)
    if page.reset or outbox.missed:
        yield WebhookMessage(replace(reset, day=day), None)
    judged = [None] * len(page.events) if verdicts is None else verdicts
    for change, end, verdict in zip(page.events, page.ends, judged, strict=True):
        if verdict is Unjudged.FOREVER:
            yield WebhookMessage(replace(reset, number=end.number, place=end.place), None, end)
            continue
        move = verdict if isinstance(verdict, RowMove) else None
        if verdicts is not None and move is None:
            continue  # it does nothing to the rows of the view
        event = change.kind if move is None else move.move
        if event in webhook.events and not _shows_nothing(webhook, page.catalog, change, move):
            one = Delivery(end.number, end.place, event, change.at, change.num, change.version)
            row = None if move is None else RowKeys(move.key, move.before)
            yield WebhookMessage(replace(one, row=row, choice=webhook.choice), change, end)


def _shows_nothing(webhook: Webhook, catalog: Catalog, change: Change, move: RowMove | None) -> bool:
    """Return whether a change shows a receiver nothing. It then touched no field that is sent and no input of a formula
    among these, and moved no row visibly.
    """
    if change.kind != "update" or event_json(catalog, change, webhook.columns)["fields"]:
        return False
    if webhook.columns is not None and may_change(catalog, webhook.columns, change.fields):
        return False
    return move is None or (move.move == "update" and (move.key == move.before or not webhook.sends_keys))

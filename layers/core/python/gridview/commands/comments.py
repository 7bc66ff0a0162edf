"""Creates, reads, changes and deletes comments on issues. Each write is one transaction, with the activity's
item about it.

Editors comment. Authors change and delete their own comments, and administrators delete any.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gridview.commands.actor import Actor, Role
from gridview.commands.comment_requests import CommentCreate, CommentPatch
from gridview.commands.idempotency import Transact, at_once
from gridview.commands.pages import first_of
from gridview.commands.parameters import ListParameters
from gridview.commands.preconditions import Expected, check
from gridview.dynamodb.expressions import ABSENT, Bound, Write, delete, put, revision_is, version_is
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.schema.catalog import Catalog
from gridview.schema.comments import MAX_COMMENTS, Comment, CommentRegister
from gridview.schema.document_store import get_issue
from gridview.schema.epoch import CONFIRMED, EpochCheck
from gridview.schema.ids import MAX_COMMENT_ID
from gridview.schema.store import retry_lost_races
from gridview.support import clock
from gridview.support.errors import FieldError, Forbidden, InvalidRequest, LimitExceeded, NotFound
from gridview.support.validation import as_integers, parse


def create_comment(
    table: Table,
    catalog: Catalog,
    actor: Actor,
    num: int,
    body: Any,
    *,
    transact: Transact = at_once,
    epoch: EpochCheck = CONFIRMED,
) -> dict[str, Any]:
    """Comment on an issue: one transaction of three items at most. The issue, its register and whom it
    mentions are read before.

    NotFound without the issue; InvalidRequest for a mention of nobody; LimitExceeded if it has as many
    comments as it may have.
    """
    request = parse(CommentCreate, body)

    def made() -> dict[str, Any]:
        def read() -> CommentRegister:
            get_issue(table, catalog, num)
            _require_users(table, actor.tenant, request.mentions)
            return _register(table, catalog, num)

        before = epoch.beside(table, read)
        if before.count >= MAX_COMMENTS:
            raise LimitExceeded(f"An issue can have at most {MAX_COMMENTS:,} comments. Delete one first.")
        if before.last >= MAX_COMMENT_ID:
            raise LimitExceeded(
                f"The issue has used all comment ids, up to {MAX_COMMENT_ID:,}. It takes no more comments."
            )
        after = replace(before, last=before.last + 1, count=before.count + 1)
        now = clock.now()
        mentions = tuple(request.mentions)
        version = catalog.first_version
        comment = Comment(num, after.last, request.text, mentions, version, now, actor.user, now, actor.user)
        answer = comment.to_json()
        created = put(comment.to_item(catalog.tenant, catalog.project), ABSENT)
        transact(
            table, [created, _kept(catalog, num, before, after), *_activity_writes(catalog, comment)], answer
        )
        return answer

    return retry_lost_races(made)


def get_comment(table: Table, catalog: Catalog, num: int, comment_id: int) -> Comment:
    """Return the comment, strongly consistent: a read unit for each 4 KB of it and of the issue. NotFound,
    also without the issue.
    """
    get_issue(table, catalog, num)
    partition = keys.comments(catalog.tenant, catalog.project)
    item = table.get(partition, keys.comment(num, comment_id), consistent=True)
    if item is None:
        raise NotFound("Comment not found.")
    return Comment.from_item(item)


def update_comment(
    table: Table,
    catalog: Catalog,
    actor: Actor,
    num: int,
    comment_id: int,
    body: Any,
    expected: Expected,
    *,
    epoch: EpochCheck = CONFIRMED,
) -> dict[str, Any]:
    """Change one's own comment: one transaction of two items, none if nothing changes.

    NotFound, Forbidden, VersionMismatch; InvalidRequest as for a new one.
    """
    request = parse(CommentPatch, body)
    given = request.model_fields_set

    def changed() -> dict[str, Any]:
        comment = epoch.beside(table, lambda: get_comment(table, catalog, num, comment_id))
        if comment.created_by != actor.user:
            raise Forbidden("Only the author can change a comment.")
        check(expected, comment.version, comment.to_json)
        after = comment
        if "text" in given:
            after = replace(after, text=request.text)
        if "mentions" in given:
            _require_users(table, actor.tenant, request.mentions, known=comment.mentions)
            after = replace(after, mentions=tuple(request.mentions))
        if after == comment:
            return comment.to_json()
        after = after.next_version(actor.user, clock.now())
        written = put(after.to_item(catalog.tenant, catalog.project), version_is(comment.version))
        table.transact([written, *_activity_writes(catalog, after)])
        return after.to_json()

    return retry_lost_races(changed, lambda: get_comment(table, catalog, num, comment_id).to_json())


def delete_comment(
    table: Table,
    catalog: Catalog,
    actor: Actor,
    num: int,
    comment_id: int,
    expected: Expected,
    *,
    epoch: EpochCheck = CONFIRMED,
) -> None:
    """Delete a comment: one transaction of three items. NotFound, Forbidden, VersionMismatch."""

    def deleted() -> None:
        def read() -> tuple[Comment, CommentRegister]:
            return get_comment(table, catalog, num, comment_id), _register(table, catalog, num)

        comment, before = epoch.beside(table, read)
        if comment.created_by != actor.user and actor.role < Role.ADMIN:
            raise Forbidden("Only the author or an administrator can delete a comment.")
        check(expected, comment.version, comment.to_json)
        item = comment.to_item(catalog.tenant, catalog.project)
        table.transact(
            [
                delete(item[keys.PK], item[keys.SK], version_is(comment.version)),
                _kept(catalog, num, before, replace(before, count=before.count - 1)),
                delete(*comment.activity_key(catalog.tenant, catalog.project)),
            ]
        )

    retry_lost_races(deleted, lambda: get_comment(table, catalog, num, comment_id).to_json())


def list_comments(
    table: Table, catalog: Catalog, num: int, parameters: Mapping[str, str], cursors: Cursors
) -> dict[str, Any]:
    """Return a page of an issue's comments in the order of their making, strongly consistent. NotFound
    without the issue.

    A read unit for each 4 KB of the issue, and of the comments.
    """
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    binding = dumps(["comments", catalog.tenant, catalog.project, num])
    after: Any = 0 if request.cursor is None else cursors.open(request.cursor, binding)
    get_issue(table, catalog, num)
    found = _listed(table, catalog, num, int(after), request.limit + 1)
    items, last = first_of(found, request.limit, Comment.to_json, lambda comment: comment.id)
    return {"items": items, "next": None if last is None else cursors.seal(last, binding)}


def _listed(table: Table, catalog: Catalog, num: int, after: int, most: int) -> Iterator[Comment]:
    partition = keys.comments(catalog.tenant, catalog.project)
    following: int | None = after + 1
    while following is not None:
        bound = Bound("between", keys.comment(num, following), keys.comment(num, MAX_COMMENT_ID))
        page = table.query(partition, bound=bound, limit=most, consistent=True)
        yield from map(Comment.from_item, page.items)
        following = page.items[-1]["id"] + 1 if page.last is not None else None


def _register(table: Table, catalog: Catalog, num: int) -> CommentRegister:
    partition = keys.comments(catalog.tenant, catalog.project)
    return CommentRegister.from_item(table.get(partition, keys.comment_register(num), consistent=True))


def _kept(catalog: Catalog, num: int, before: CommentRegister, after: CommentRegister) -> Write:
    """Return the write of a register, on condition that nobody else has written it."""
    raised = replace(after, revision=before.revision + 1)
    unchanged = revision_is(before.revision) if before.revision else ABSENT
    return put(raised.to_item(catalog.tenant, catalog.project, num), unchanged)


def _activity_writes(catalog: Catalog, comment: Comment) -> list[Write]:
    """Return the write that adds a comment to the project's activity, if the project records its history."""
    item = comment.activity_item(catalog)
    remembered = catalog.history.enabled and item[keys.TTL_ATTRIBUTE] > clock.seconds()
    return [put(item)] if remembered else []


def _require_users(table: Table, tenant: str, mentions: Sequence[str], known: Sequence[str] = ()) -> None:
    """Raise InvalidRequest if one of these is no user of the tenant, as `GET /v1/users` lists them, unless it
    is in `known`.
    """
    wanted = {user: (keys.user(tenant, user), keys.users(tenant)) for user in mentions if user not in known}
    found = table.batch_get([*wanted.values()], consistent=True, paths=()).items if wanted else {}
    wrong = [
        FieldError(f"mentions.{at}", "is not a user of the tenant")
        for at, user in enumerate(mentions)
        if user in wanted and wanted[user] not in found
    ]
    if wrong:
        raise InvalidRequest("The request is not valid. Fix what `errors` lists.", wrong)

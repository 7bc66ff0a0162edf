"""Starts, shows and cancels user jobs (`schema.user_jobs`). The work itself is done in the background
(`maintenance.job_line`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from gridview.commands.actor import Actor, Role
from gridview.commands.idempotency import Transact, at_once
from gridview.commands.parameters import ListParameters
from gridview.dynamodb.errors import ConditionFailed, TransactionFailed
from gridview.dynamodb.expressions import Bound, Condition, Item
from gridview.dynamodb.table import Table
from gridview.encoding import keys
from gridview.encoding.attribute_values import item_size
from gridview.encoding.cursors import Cursors
from gridview.encoding.json_codec import dumps
from gridview.encoding.values import datetime_json
from gridview.schema import ids
from gridview.schema.jobs import Hint
from gridview.schema.previews import EMPTY
from gridview.schema.user_jobs import (
    KEPT_DAYS,
    MOST_EXPORTS_OF_PROJECT,
    MOST_EXPORTS_OF_USER,
    MOST_OF_PROJECT,
    MOST_OF_TENANT,
    MOST_OF_USER,
    JobKind,
    JobLine,
    JobState,
    OpenJob,
    UserJob,
    new_job,
    save_line,
)
from gridview.support import clock
from gridview.support.errors import Conflict, NotFound, TooLarge, TooManyJobs
from gridview.support.validation import as_integers, parse

_ATTEMPTS = 8
MAX_ASKED_BYTES = 350_000
"""Bytes of a job's order, in one item: DynamoDB stores at most 400 KB."""
_LAST_BATCH = 10**10 - 1
_RETRY_SECONDS = 10
"""Until a request for a job that was refused may succeed: a turn of work."""
_LAST_JOBS = 100
"""Jobs among which those of a change are looked for."""


def start(
    table: Table,
    actor: Actor,
    project: str,
    kind: JobKind,
    asked: Mapping[str, Any],
    change: UUID,
    transact: Transact = at_once,
) -> dict[str, Any]:
    """Start a job, and return it as the API does: a read unit, and 6 write units and more with its order
    `asked` (stored form).

    TooLarge for more than 350 KB of that; TooManyJobs if the user, the project or the tenant has as many open
    as it may have.
    """
    if item_size(asked) > MAX_ASKED_BYTES:
        raise TooLarge(
            "The filter and values of a job can have at most 350 KB. Send a shorter filter or fewer values."
        )
    job = UserJob(
        id=ids.new_job_id(int(clock.seconds() * 1000)),
        kind=kind,
        user=actor.user,
        change=change.bytes,
        created=clock.now(),
        expires=clock.expiry(KEPT_DAYS),
        preview=EMPTY if asked.get("dry_run") else None,
    )
    for _ in range(_ATTEMPTS):
        line = _line(table, actor.tenant)
        open_now = line or JobLine()
        joining = OpenJob(project, job.id, actor.user, kind, clock.now())
        _require_room(open_now.open, joining)
        joined = save_line(actor.tenant, line, open_now.joined(joining))
        answer = job_json(job)
        try:
            transact(table, [*new_job(job, actor.tenant, project, asked), joined], answer)
        except TransactionFailed:
            continue
        return answer
    raise Conflict("Other requests are starting jobs. Try again.")


def _require_room(open_now: Sequence[OpenJob], job: OpenJob) -> None:
    """Raise TooManyJobs unless one more job may be open."""
    of_user = [one for one in open_now if one.user == job.user]
    of_project = [one for one in open_now if one.project == job.project]
    if job.kind is JobKind.EXPORT:
        exports = [one for one in of_user if one.kind is JobKind.EXPORT]
        if len(exports) >= MOST_EXPORTS_OF_USER:
            raise _too_many_of_user(f"{MOST_EXPORTS_OF_USER} open exports", exports)
    if len(of_user) >= MOST_OF_USER:
        raise _too_many_of_user(f"{MOST_OF_USER} open jobs", of_user)
    if job.kind is JobKind.EXPORT:
        exports = [one for one in of_project if one.kind is JobKind.EXPORT]
        if len(exports) >= MOST_EXPORTS_OF_PROJECT:
            raise _too_many(f"The project has {MOST_EXPORTS_OF_PROJECT} open exports, the most allowed.")
    if len(of_project) >= MOST_OF_PROJECT:
        raise _too_many(f"The project has {MOST_OF_PROJECT} open jobs, the most allowed.")
    if len(open_now) >= MOST_OF_TENANT:
        raise _too_many(f"The tenant has {MOST_OF_TENANT} open jobs, the most allowed.")


def _too_many_of_user(having: str, open_now: Iterable[OpenJob]) -> TooManyJobs:
    listed = [
        {"kind": one.kind.value, "path": f"/v1/projects/{one.project}/jobs/{one.id}"} for one in open_now
    ]
    paths = [one["path"] for one in listed]
    members = {"jobs": listed}
    return _too_many(f"You have {having}, the most allowed for a user: {', '.join(paths)}.", members)


def _too_many(why: str, members: Mapping[str, object] | None = None) -> TooManyJobs:
    return TooManyJobs(
        f"{why} Wait until one ends, or cancel one: DELETE /v1/projects/{{project}}/jobs/{{job}}.",
        members=members,
        headers={"Retry-After": str(_RETRY_SECONDS)},
    )


def all_of_change(table: Table, tenant: str, project: str, change: UUID) -> list[UserJob]:
    """Return the jobs that write under a change among the last ones of the project, the last first. One
    strongly consistent Query.
    """
    page = table.query(
        keys.jobs(tenant, project),
        bound=Bound("<", keys.JOBS_END),
        forward=False,
        limit=_LAST_JOBS,
        consistent=True,
    )
    return [one for one in map(UserJob.from_item, page.items) if one.change == change.bytes]


def require_over(table: Table, tenant: str, project: str, change: UUID, user: str) -> None:
    """Conflict while a job of a user's change is open: a read unit, and another for each open job of the user in the
    project.
    """
    partition = keys.jobs(tenant, project)
    line = _line(table, tenant) or JobLine()
    of_user = [(partition, one.id) for one in line.open if (one.project, one.user) == (project, user)]
    found = table.batch_get(of_user, consistent=True).items
    if any(one["change"] == change.bytes and one["preview"] is None for one in found.values()):
        raise still_open()


def still_open() -> Conflict:
    """Return the error of an undo of a change that a job still writes."""
    return Conflict("A job of this change is still open. Cancel it, or wait until it ends.")


def waiting(table: Table, tenant: str) -> Hint | None:
    """Return a hint at the tenant's line if no worker holds it: a read unit."""
    line = _line(table, tenant)
    return (
        Hint(keys.job_line(tenant), line.due) if line is not None and line.open and not line.holder else None
    )


def _line(table: Table, tenant: str) -> JobLine | None:
    item = table.get(keys.job_line(tenant), keys.LINE, consistent=True)
    return None if item is None else JobLine.from_item(item)


FileLink = Callable[[UserJob], str | None]
"""Returns a URL of a job's file; None if it has made none, or that has been removed."""


def job_json(job: UserJob, url: str | None = None) -> dict[str, Any]:
    """Return a job as the API returns it."""
    return {
        "id": job.id,
        "kind": job.kind.value,
        "state": job.state.value,
        "done": job.done,
        "total": job.total,
        "refused": job.refused,
        "change": None if job.preview is not None else str(UUID(bytes=job.change)),
        "url": url,
        "created": datetime_json(job.created),
        "created_by": job.user,
        "ended": datetime_json(job.ended) if job.ended else None,
        "problem": job.problem,
        "changed": None if job.preview is None else job.preview.changed,
        "examples": None if job.preview is None else list(job.preview.examples),
    }


def get_job(
    table: Table, actor: Actor, project: str, job: str, link: FileLink = lambda _: None
) -> dict[str, Any]:
    """Return a job of the project, strongly consistent: a read unit. NotFound.

    `link` is asked if the job is done. Other users than its own and administrators get no link: the file may have
    rows of a private view.
    """
    found = _stored(table, actor, project, job)
    may_download = found.user == actor.user or actor.role >= Role.ADMIN
    return job_json(found, link(found) if found.state is JobState.DONE and may_download else None)


def list_jobs(
    table: Table, actor: Actor, project: str, parameters: Mapping[str, str], cursors: Cursors
) -> dict[str, Any]:
    """Return a page of the project's jobs, the last first, strongly consistent: one Query."""
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    binding = dumps([actor.tenant, project])
    before = keys.JOBS_END if request.cursor is None else str(cursors.open(request.cursor, binding))
    page = table.query(
        keys.jobs(actor.tenant, project),
        bound=Bound("<", before),
        forward=False,
        limit=request.limit,
        consistent=True,
    )
    return {
        "items": [job_json(UserJob.from_item(item)) for item in page.items],
        "next": cursors.seal(page.last, binding) if page.last is not None else None,
    }


def list_refused(
    table: Table, actor: Actor, project: str, job: str, parameters: Mapping[str, str], cursors: Cursors
) -> dict[str, Any]:
    """Return a page of the issues that a job could not change, each with its problem, in the order in which
    it came to them. NotFound.

    A read unit for the job, and one for each 4 KB of the page.
    """
    request = parse(ListParameters, {**parameters, **as_integers(parameters, "limit")})
    binding = dumps([actor.tenant, project, job])
    batch, skip = (0, 0) if request.cursor is None else _opened(cursors.open(request.cursor, binding))
    _stored(table, actor, project, job)
    page = table.query(
        keys.job_parts(actor.tenant, project, job),
        bound=Bound("between", keys.refusals(batch), keys.refusals(_LAST_BATCH)),
        limit=request.limit,
        consistent=True,
    )
    found = [(item, at) for item in page.items for at in range(len(item["refused"]))]
    found = [one for one in found if (one[0]["batch"], one[1]) >= (batch, skip)]
    shown = found[: request.limit]
    following = None
    if len(found) > len(shown):
        following = [found[len(shown)][0]["batch"], found[len(shown)][1]]
    elif page.last is not None:
        following = [page.items[-1]["batch"] + 1, 0]
    return {
        "items": [{"num": num, "problem": problem} for num, problem in map(_refusal, shown)],
        "next": None if following is None else cursors.seal(following, binding),
    }


def _opened(payload: Any) -> tuple[int, int]:
    batch, skip = payload
    return batch, skip


def _refusal(found: tuple[Item, int]) -> tuple[int, Any]:
    item, at = found
    num, problem = item["refused"][at]
    return num, problem


def refusals_item(
    tenant: str, project: str, job: UserJob, batch: int, refused: Iterable[tuple[int, Mapping[str, Any]]]
) -> Item:
    """Return the stored item of the issues of one batch that a job could not change, each with its problem
    document.
    """
    return {
        keys.PK: keys.job_parts(tenant, project, job.id),
        keys.SK: keys.refusals(batch),
        "batch": batch,
        "refused": [[num, dict(problem)] for num, problem in refused],
        keys.TTL_ATTRIBUTE: job.expires,
    }


def cancel_job(table: Table, actor: Actor, project: str, job: str) -> None:
    """Cancel a job that is not over: its changes stay. A read unit, and 2 write units and more.

    NotFound; Forbidden for another user's job, unless the caller is an administrator.
    """
    found = _stored(table, actor, project, job)
    if found.user != actor.user:
        actor.require(Role.ADMIN)
    is_open = Condition(
        "#state = :waiting OR #state = :running",
        {"#state": "job_state"},
        {":waiting": JobState.WAITING.value, ":running": JobState.RUNNING.value},
    )
    cancelled = {"job_state": JobState.CANCELLED.value, "ended": clock.now()}
    try:
        table.update(keys.jobs(actor.tenant, project), job, is_open, assign=cancelled, add={"revision": 1})
    except ConditionFailed:
        return  # it is over


def _stored(table: Table, actor: Actor, project: str, job: str) -> UserJob:
    item = table.get(keys.jobs(actor.tenant, project), job, consistent=True)
    if item is None or item[keys.TTL_ATTRIBUTE] < clock.seconds():
        raise NotFound("Job not found.")
    return UserJob.from_item(item)

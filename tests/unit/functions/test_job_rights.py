"""A job continues only while its user has the right to do its work, according to the user directory at each turn."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.stub import Stubber

from gridview.commands import undo as undoing
from gridview.commands.actor import Role
from gridview.maintenance import job_rights
from gridview.maintenance.job_queue import body_of
from gridview.maintenance.job_rights import NEEDED, UserPool, require_role, role_source, unknown_roles
from gridview.schema.user_jobs import JobKind
from gridview.support.errors import Forbidden, Overloaded
from infra.routes import ROUTES
from tests.support import recorded_changes
from tests.support.cloud import Cloud
from tests.support.http import Client, Context

ROUTE_OF = {
    JobKind.UPDATE: "update_matching",
    JobKind.DELETE: "delete_matching",
    JobKind.UNDO: "undo",
    JobKind.EXPORT: "export",
}


def test_a_job_needs_the_role_that_its_call_needs() -> None:
    roles = {route.operation: route.role for route in ROUTES}
    assert {kind: roles[ROUTE_OF[kind]] for kind in JobKind} == NEEDED


@pytest.mark.parametrize("kind", JobKind)
@pytest.mark.parametrize("role", [None, *Role])
def test_a_lower_role_or_none_is_refused_with_the_reason(kind: JobKind, role: Role | None) -> None:
    if role is not None and role >= NEEDED[kind]:
        require_role(lambda *_: role, "0807", "ann", NEEDED[kind])
        return
    with pytest.raises(Forbidden, match="removed or disabled" if role is None else "is viewer now"):
        require_role(lambda *_: role, "0807", "ann", NEEDED[kind])


class Directory:
    """The answers of the user directory."""

    def __init__(self) -> None:
        self.roles: dict[tuple[str, str], Role] = {("0807", "ann"): Role.EDITOR}
        self.asked = 0
        self.is_away = False

    def role_of(self, tenant: str, user: str) -> Role | None:
        self.asked += 1
        if self.is_away:
            raise Overloaded("The user directory does not answer; try again.")
        return self.roles.get((tenant, user))


@pytest.fixture
def directory(monkeypatch: pytest.MonkeyPatch) -> Directory:
    found = Directory()
    monkeypatch.setattr(job_rights, "role_source", lambda _: found.role_of)
    return found


@pytest.fixture
def job(api: Client, account: Cloud, project: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a job that closes three issues, one a turn."""
    monkeypatch.setattr("gridview.maintenance.numbered_turn.BATCH", 1)
    for at in range(3):
        api.made(f"{project}/issues", {"name": f"issue {at}"})
    account.derive()
    editor = api.acting(role="editor")
    begun = editor.post(f"{project}/issues/update-matching", {"filter": None, "set": {"state": "closed"}})
    path: str = begun.headers["location"]
    return path


def a_turn(account: Cloud, monkeypatch: pytest.MonkeyPatch, batches: int) -> None:
    """One turn that has time for so many batches."""
    seconds = iter([9.0] * (batches + 2))
    upkeep = account.modules["upkeep"]
    take = upkeep._take_turn_of_line
    with monkeypatch.context() as patch:
        patch.setattr(upkeep, "_take_turn_of_line", lambda hint, _: take(hint, lambda: next(seconds, 0.0)))
        deliver_one(account)


def deliver_one(account: Cloud) -> None:
    message = {"body": body_of(account.hints.popleft())}
    account.modules["upkeep"].handler({"Records": [message]}, Context())


def states(api: Client, project: str) -> list[str]:
    return [api.get(f"{project}/issues/{num}").body["state"] for num in (1, 2, 3)]


@pytest.mark.parametrize("role", [None, Role.VIEWER])
def test_a_job_of_a_user_without_the_right_writes_nothing_after_its_turn(
    role: Role | None,
    api: Client,
    account: Cloud,
    project: str,
    job: str,
    directory: Directory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded_changes.on_time(account.table)
    monkeypatch.setattr(undoing, "SETTLED", 0.0)
    a_turn(account, monkeypatch, batches=1)
    written = states(api, project)
    assert written.count("closed") in (1, 2), "the job is in the middle"
    assert api.get(job).body["state"] == "running"
    directory.roles = {} if role is None else {("0807", "ann"): role}
    account.deliver_hints()
    ended = api.get(job).body
    assert (ended["state"], ended["problem"]["type"], ended["problem"]["status"]) == (
        "failed",
        "forbidden",
        403,
    )
    assert "The changes of the job stay" in ended["problem"]["detail"]
    assert states(api, project) == written
    assert ended["done"] == written.count("closed"), "what it wrote is counted"
    assert account.upkeep() == 0, "the line is empty"
    account.follow()
    undone = api.post(f"{project}/undo", {"change": ended["change"], "by": "ann"})
    assert undone.status == 200, undone.text
    assert states(api, project) == ["open"] * 3


def test_a_job_continues_under_a_higher_role_and_each_turn_reads_it_once(
    api: Client,
    account: Cloud,
    project: str,
    job: str,
    directory: Directory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a_turn(account, monkeypatch, batches=1)
    assert directory.asked == 1
    directory.roles = {("0807", "ann"): Role.ADMIN}
    account.deliver_hints()
    assert directory.asked == 2
    assert api.get(job).body["state"] == "done"


def test_a_job_waits_while_the_directory_does_not_answer(
    api: Client, account: Cloud, project: str, job: str, directory: Directory
) -> None:
    directory.is_away = True
    deliver_one(account)
    assert api.get(job).body["state"] == "waiting"
    assert states(api, project) == ["open"] * 3


def test_without_a_user_pool_a_job_keeps_the_rights_it_was_started_with(
    api: Client, account: Cloud, project: str, job: str
) -> None:
    assert role_source("") is unknown_roles
    account.deliver_hints()
    assert api.get(job).body["state"] == "done"


@pytest.fixture
def pool() -> Iterator[tuple[UserPool, Stubber]]:
    """A user pool, and its answers. Requests and answers have the shapes that AWS documents."""
    pool = UserPool("eu-west-2_users")
    with Stubber(pool._client) as answers:
        yield pool, answers


def answer(role: str = "editor", tenant: str = "0807", *, enabled: bool = True) -> dict[str, Any]:
    attributes = {"sub": "ann", "email": "ann@example.org", "custom:tenant": tenant, "custom:role": role}
    return {
        "Username": "ann",
        "Enabled": enabled,
        "UserStatus": "CONFIRMED",
        "UserAttributes": [{"Name": name, "Value": value} for name, value in attributes.items()],
    }


@pytest.mark.parametrize(
    ("found", "role"),
    [
        (answer(), Role.EDITOR),
        (answer("viewer"), Role.VIEWER),
        (answer("admin"), Role.ADMIN),
        (answer("owner"), None),
        (answer(tenant="0808"), None),
        (answer(enabled=False), None),
    ],
)
def test_the_user_pool_is_asked_by_the_subject_of_the_token(
    pool: tuple[UserPool, Stubber], found: dict[str, Any], role: Role | None
) -> None:
    users, answers = pool
    answers.add_response("admin_get_user", found, {"UserPoolId": "eu-west-2_users", "Username": "ann"})
    assert users.role_of("0807", "ann") is role


def test_a_removed_user_has_no_role(pool: tuple[UserPool, Stubber]) -> None:
    users, answers = pool
    answers.add_client_error("admin_get_user", "UserNotFoundException")
    assert users.role_of("0807", "ann") is None


@pytest.mark.parametrize(
    "code", ["TooManyRequestsException", "InternalErrorException", "AccessDeniedException"]
)
def test_a_pool_that_refuses_is_no_missing_user(pool: tuple[UserPool, Stubber], code: str) -> None:
    users, answers = pool
    answers.add_client_error("admin_get_user", code)
    with pytest.raises(Overloaded):
        users.role_of("0807", "ann")

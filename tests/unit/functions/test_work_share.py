"""A user's share of long queries, through the handler: a refusal makes no call, and other users are unaffected."""

from typing import Any

import pytest

from gridview.api.work_shares import WorkShares
from gridview.query_api import answers
from gridview.support import clock
from gridview.view.context import ReadContext
from tests.support.cloud import Cloud
from tests.support.http import Client

LONG = 3.0


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, account: Cloud) -> None:
    """Each query takes three seconds, and a user may take a tenth of a container's time."""
    monkeypatch.setattr(account.modules["query"], "work_shares", WorkShares(10))
    now = [1_700_000_000.0]
    monkeypatch.setattr(clock, "seconds", lambda: now[0])

    def slowly(*given: Any) -> Any:
        now[0] += LONG
        return made(*given)

    made = ReadContext
    monkeypatch.setattr(answers, "ReadContext", slowly)


@pytest.mark.usefixtures("slow")
def test_a_user_beyond_the_share_is_refused_without_a_call(api: Client, project: str, account: Cloud) -> None:
    ann = api.acting(user="ann", role="viewer")
    assert ann.post(f"{project}/grid", {}).status == 200
    meter = account.modules["query"].table.meter
    calls = len(meter.calls)
    for path, body in (("grid", {}), ("groups", {"by": ["state"]}), ("summary", {"of": ["state"]})):
        refused = ann.post(f"{project}/{path}", body)
        assert refused.kind == (429, "too-many-long-queries")
        assert refused.headers["retry-after"] == "10"
    assert ann.get(f"{project}/activity").kind == (429, "too-many-long-queries")
    assert len(meter.calls) == calls
    assert ann.get(project).status == 200, "what reads no index is not counted"


@pytest.mark.usefixtures("slow")
def test_other_users_are_not_refused(api: Client, project: str, account: Cloud) -> None:
    ann, ben = (api.acting(user=user, role="viewer") for user in ("ann", "ben"))
    assert ann.post(f"{project}/grid", {}).status == 200
    stranger = account.api(tenant="0808")
    stranger.made("/v1/projects", {"name": "Plain", "id": "plain"})
    assert stranger.post("/v1/projects/plain/grid", {}).status == 200
    assert ann.post(f"{project}/grid", {}).status == 429
    assert ben.post(f"{project}/grid", {}).status == 200
    assert api.acting(user="cat", role="viewer").post(f"{project}/grid", {}).status == 429, (
        "the tenant's share"
    )
    assert stranger.post("/v1/projects/plain/grid", {}).status == 429, "its own long query"

"""The steps of the smoke test, in their order.

Each continues with the results of the ones before, in a project of its own.
"""

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from devtools.smoke.outcome import PATIENCE, NotShown, Wrong, require, wait_for
from devtools.smoke.stack import Stack

_SCRIPT: Final = re.compile(r'src="(/assets/[^"]+\.js)"')
_TOKEN: Final = "X-Consistency-Token"  # noqa: S105  (a header, not a secret)


@dataclass
class Tour:
    """The stack, and the results of the steps so far."""

    stack: Stack
    api: httpx.Client
    project: str = field(default_factory=lambda: f"smoke{secrets.token_hex(4)}")
    token: str = ""
    """The consistency token of the last write."""

    @property
    def path(self) -> str:
        """The path of the project."""
        return f"/v1/projects/{self.project}"

    def issue(self, name: str) -> int:
        """The number of a new issue."""
        answer = _answered(self.api.post(f"{self.path}/issues", json={"name": name}), 201)
        self.token = answer.headers.get(_TOKEN, "")
        return int(answer.json()["num"])


def page(tour: Tour) -> None:
    """The page and its script are there."""
    url = httpx.URL(tour.stack.page_url())
    answer = _answered(tour.stack.web.get(url), 200)
    found = _SCRIPT.search(answer.text)
    if found is None:
        raise Wrong(f"{url} is not gridview's web page")
    script = _answered(tour.stack.web.get(url.join(found[1])), 200)
    require("javascript" in script.headers.get("content-type", ""), f"{found[1]} is not a script")


def write(tour: Tour) -> None:
    """A project and an issue are written."""
    _answered(tour.api.post("/v1/projects", json={"id": tour.project, "name": "Smoke test"}), 201)
    num = tour.issue("written")
    require(num == 1, f"the first issue has the number {num}")
    require(tour.token, "the write gave no consistency token")


def read(tour: Tour) -> None:
    """A page of the grid with the token of the write shows the issue, though the index may lag."""
    parameters = {"sort": "-created", "columns": "num,name"}
    answer = _answered(
        tour.api.get(f"{tour.path}/grid", params=parameters, headers={_TOKEN: tour.token}), 200
    )
    rows = [(row["num"], row["name"]) for row in answer.json()["rows"]]
    require(rows == [(1, "written")], f"the grid shows {rows}")


def foreign_tenant(tour: Tour) -> None:
    """A user of another tenant finds neither the project nor the issue."""
    with tour.stack.api(foreign=True) as other:
        for path in (tour.path, f"{tour.path}/issues/1", f"{tour.path}/grid"):
            _answered(other.get(path), 404)
        listed = _answered(other.get("/v1/projects"), 200).json()["items"]
        require(listed == [], f"another tenant is shown {len(listed)} projects")


def foreign_keys(tour: Tour) -> None:
    """IAM refuses the keys of another tenant to a session of this one."""
    tour.stack.foreign_keys(tour.project)


def socket(tour: Tour) -> None:
    """A change comes over a socket."""
    answer = _answered(tour.api.post(f"{tour.path}/tickets"), 200).json()
    with tour.stack.connect(f"{answer['url']}?ticket={answer['ticket']}") as connection:
        connection.send(json.dumps({"do": "subscribe", "id": "a"}))
        connection.recv(timeout=PATIENCE)
        wanted = f"{tour.issue('for the socket')}.1"

        def frame() -> bool:
            found: Any = json.loads(connection.recv(timeout=PATIENCE))
            return wanted in [item.get("id") for item in found.get("items", ())]

        wait_for(frame, "the socket received no change")


def webhook(tour: Tour) -> None:
    """A change is delivered to a webhook."""
    hooks = f"{tour.path}/webhooks"
    with tour.stack.receiver() as receiver:
        made = tour.api.post(hooks, json={"url": receiver.url})
        if receiver.has_received is not None and made.status_code == 400:
            raise NotShown("this stack sends nothing to this machine: ./dev up --webhooks-to-localhost")
        hook = _answered(made, 201).json()
        tour.issue("for the webhook")
        log = f"{hooks}/{hook['id']}/deliveries"

        def delivered() -> bool:
            items = _answered(tour.api.get(log), 200).json()["items"]
            for one in items:
                require(one["status"] != "failed", f"the delivery failed: {one.get('problem')}")
            return any(one["status"] == "delivered" for one in items)

        try:
            wait_for(delivered, "no message was delivered")
            has_received = receiver.has_received
            require(
                has_received is None or has_received(hook["secret"]),
                "the receiver got no message with a valid signature",
            )
        finally:
            tour.api.delete(f"{hooks}/{hook['id']}")


def export(tour: Tour) -> None:
    """An export of the project is written, and its link leads to a file with the issue."""
    begun = _answered(
        tour.api.post(f"{tour.path}/export", json={"format": "csv"}, headers={_TOKEN: tour.token}), 202
    )
    job = begun.headers["location"]

    def done() -> str | None:
        found = _answered(tour.api.get(job), 200).json()
        require(found["state"] != "failed", f"the export failed: {found.get('problem')}")
        return found["url"] if found["state"] == "done" else None

    url = wait_for(done, "the export was not finished")
    text, why_not_linked = tour.stack.exported(url)
    require(any("written" in line for line in text.splitlines()[1:]), "the file lacks the issue")
    if why_not_linked is not None:
        raise NotShown(why_not_linked)


STEPS: Final[dict[str, Callable[[Tour], None]]] = {
    "page": page,
    "write": write,
    "read with token": read,
    "foreign tenant": foreign_tenant,
    "foreign keys": foreign_keys,
    "socket": socket,
    "webhook": webhook,
    "export": export,
}
"""Every step by its name, in their order."""


def _answered(answer: httpx.Response, status: int) -> httpx.Response:
    """The answer, if it has this status. Wrong."""
    where = f"{answer.request.method} {answer.request.url.copy_with(query=None)}"
    require(answer.status_code == status, f"{where} answered {answer.status_code}: {answer.text[:200]}")
    return answer

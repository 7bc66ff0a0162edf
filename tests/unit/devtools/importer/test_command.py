"""`./dev import` as a whole, against an API in memory that remembers keys for a day."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from devtools import cli
from devtools.importer import command
from devtools.importer.batches import MAX_OPERATIONS
from devtools.importer.client import Api
from gridview.support import clock

ROWS = 3 * MAX_OPERATIONS
DAY = 86_400.0


class Server:
    """An API with one project. `stops_at`: the number of the batch that is done without an answer; later ones are not done."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0
        self.created: list[str] = []
        self.stops_at = 0
        self._remembered: dict[str, tuple[float, Any]] = {}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/batch"):
            project = {"id": "rows", "created": "2026-01-01T00:00:00Z", "attributes": [], "states": []}
            return httpx.Response(200, json=project)
        if len(self._remembered) == self.stops_at > 0:
            raise httpx.ConnectError("no answer")
        key = request.headers["Idempotency-Key"]
        at, answer = self._remembered.get(key, (0.0, None))
        if answer is None or self.now - at > DAY:
            names = [one["create"]["name"] for one in json.loads(request.content)["operations"]]
            self.created += names
            answer = {"results": [{"status": 201, "issue": {}} for _ in names]}
            self._remembered[key] = self.now, answer
            if len(self._remembered) == self.stops_at:
                raise httpx.ReadTimeout("no answer")
        return httpx.Response(200, json=answer)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    """The API, for every command. A request that gets no answer is given up at once."""
    made = Server()
    ticks = iter(range(0, 10**9, 1_000))
    transport = httpx.MockTransport(made)
    monkeypatch.setattr(
        command, "Api", partial(Api, transport=transport, sleep=lambda _: None, clock=lambda: next(ticks))
    )
    monkeypatch.setattr(clock, "seconds", lambda: made.now)
    return made


@pytest.fixture
def dev(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs the import of a file with three batches, one at a time."""
    file = tmp_path / "rows.csv"
    file.write_text("title\n" + "".join(f"row {number}\n" for number in range(1, ROWS + 1)))
    common = ["--project", "rows", "--api", "https://api.test", "--workers", "1", "--rate", "1000000"]

    def run(*more: str, tenant: str = "t1") -> tuple[int, str]:
        token = jwt.encode({"custom:tenant": tenant}, "k" * 32)
        status = cli.main(["import", str(file), *common, "--token", token, *more])
        captured = capsys.readouterr()
        return status, " ".join((captured.out + captured.err).split())

    return run


def test_an_interrupted_import_continues_and_creates_nothing_twice(server: Server, dev: Any) -> None:
    server.stops_at = 2
    assert dev()[0] == 1
    server.stops_at = 0
    status, said = dev()
    assert status == 0, said
    assert "Continuing after the 500 rows" in said
    assert len(server.created) == len(set(server.created)) == ROWS
    assert "already" in dev()[1]


def test_an_interrupted_second_import_continues_with_again(server: Server, dev: Any) -> None:
    """The message of the interrupt says: run the same command again."""
    assert dev()[0] == 0
    server.stops_at = 5
    assert dev("--again")[0] == 1
    server.stops_at = 0
    assert dev("--again")[0] == 0
    assert len(server.created) == 2 * ROWS
    assert dev("--again")[0] == 0
    assert len(server.created) == 3 * ROWS, "the second import is complete, so this one is another"


def test_again_does_not_continue_an_import_that_began_without_it(server: Server, dev: Any) -> None:
    server.stops_at = 2
    assert dev()[0] == 1
    server.stops_at = 0
    assert dev("--again")[0] == 0
    assert len(server.created) == 2 * MAX_OPERATIONS + ROWS


@pytest.fixture
def in_doubt(server: Server, dev: Any) -> str:
    """An import whose second batch is done without an answer; a day later it was tried again. Its output."""
    server.stops_at = 2
    assert dev()[0] == 1
    server.stops_at = 0
    server.now += DAY + 1
    status, said = dev()
    assert (status, len(server.created)) == (1, 2 * MAX_OPERATIONS)
    return str(said)


def test_rows_that_the_api_no_longer_recognizes_are_named(in_doubt: str) -> None:
    assert "The rows 501 to 1500 were sent" in in_doubt
    assert "--existing-rows 501-1500" in in_doubt


@pytest.mark.usefixtures("in_doubt")
@pytest.mark.parametrize(
    ("existing", "twice"), [("501-1000", 0), ("none", MAX_OPERATIONS), ("501-600, 701-1000", 100)]
)
def test_the_user_says_which_of_these_rows_are_in_the_project(
    server: Server, dev: Any, existing: str, twice: int
) -> None:
    status, said = dev("--existing-rows", existing)
    assert status == 0
    assert len(set(server.created)) == ROWS
    assert len(server.created) == ROWS + twice
    assert "1,500 rows read, 1,500 issues created" in said


@pytest.mark.usefixtures("in_doubt")
def test_that_answer_outlasts_another_interrupt(server: Server, dev: Any) -> None:
    server.stops_at = 3
    assert dev("--existing-rows", "501-600")[0] == 1
    server.stops_at = 0
    assert dev()[0] == 0
    assert len(server.created) == ROWS + 400


@pytest.mark.usefixtures("in_doubt")
@pytest.mark.parametrize("existing", ["1-500", "1400-1600"])
def test_only_rows_in_doubt_can_be_left_out(server: Server, dev: Any, existing: str) -> None:
    status, said = dev("--existing-rows", existing)
    assert (status, len(server.created)) == (1, 2 * MAX_OPERATIONS)
    assert "takes ranges within the rows" in said


def test_within_a_day_no_question_is_asked(server: Server, dev: Any) -> None:
    server.stops_at = 2
    assert dev()[0] == 1
    server.stops_at = 0
    server.now += DAY / 2
    assert dev()[0] == 0
    assert len(server.created) == ROWS


def test_two_tenants_of_one_api_have_files_of_their_own(server: Server, dev: Any, tmp_path: Path) -> None:
    for tenant in ("t1", "t2"):
        assert dev(tenant=tenant)[0] == 0
        assert (tmp_path / f"rows.csv.api.test.{tenant}.rows.progress.json").exists()
    assert len(server.created) == ROWS, "the server of this test knows no tenants, but keys"

"""`./dev smoke`: its verdicts from the ends of steps, and from IAM's answers."""

import hashlib
import hmac
from base64 import b64encode
from typing import Any

import httpx
import pytest

from devtools import cli
from devtools.smoke import command, deployed, outcome, steps
from devtools.smoke.deployed import DeployedStack
from devtools.smoke.outcome import NotShown, Wrong
from devtools.smoke.probe import DONE, Ended
from devtools.smoke.receiver import is_signed
from devtools.smoke.steps import STEPS, Tour
from infra import isolation
from tests.support.smoke import outcomes

DENIED = "AccessDeniedException"
RIGHT = Ended(own=DONE, foreign=DENIED, untagged="AccessDenied", without=DENIED)


class Answers:
    """An API with given answers for each method and path, and 404 for all else."""

    def __init__(self, **answers: httpx.Response) -> None:
        self.asked: list[str] = []
        self.answers = answers

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(f"{request.method} {request.url.path}")
        return self.answers.get(request.method, httpx.Response(404))


class Nowhere:
    """A stack that no step uses."""

    name = "nowhere"


def on(answers: Answers) -> Tour:
    client = httpx.Client(transport=httpx.MockTransport(answers), base_url="https://api.invalid")
    return Tour(Nowhere(), client)  # type: ignore[arg-type]


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> dict[str, Exception | None]:
    """The end of each step; by default success."""
    outcomes: dict[str, Exception | None] = dict.fromkeys(STEPS)

    def step(name: str) -> Any:
        def end(_: Tour) -> None:
            error = outcomes[name]
            if error is not None:
                raise error

        return end

    monkeypatch.setattr(command, "STEPS", {name: step(name) for name in STEPS})
    return outcomes


def test_every_step_is_reported_as_what_it_is_and_the_project_is_deleted(
    ends: dict[str, Exception | None], capsys: Any
) -> None:
    ends |= {"foreign keys": NotShown("no IAM"), "socket": TimeoutError("slow"), "export": Wrong("no file")}
    answers = Answers()
    tour = on(answers)
    assert command.tour(tour) == 1
    said = capsys.readouterr().out
    found = outcomes(said)
    assert found["foreign keys"] == "not shown: no IAM"
    assert found["socket"] == "FAILED: TimeoutError: slow"
    assert found["export"] == "FAILED: no file"
    assert all(found[name].startswith("ok (") for name in ("page", "write", "webhook"))
    assert said.splitlines()[-1] == "5 of 8 steps passed, 2 failed, 1 not shown."
    assert answers.asked == [f"DELETE {tour.path}"]


def test_a_project_that_cannot_be_deleted_does_not_hide_the_result(
    ends: dict[str, Exception | None], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> None:
        raise httpx.ConnectError("gone")

    tour = on(Answers())
    monkeypatch.setattr(tour.api, "delete", fail)
    assert command.tour(tour) == 0
    said = capsys.readouterr().out
    assert f"The project of {tour.path} stays: ConnectError: gone" in said
    assert "8 of 8 steps passed" in said


def test_a_step_that_cannot_be_shown_is_no_failure(ends: dict[str, Exception | None], capsys: Any) -> None:
    ends["webhook"] = NotShown("no receiver")
    assert command.tour(on(Answers())) == 0
    assert "7 of 8 steps passed, 0 failed, 1 not shown." in capsys.readouterr().out


def test_without_a_write_nothing_that_needs_one_is_said_to_be_well(
    ends: dict[str, Exception | None], capsys: Any
) -> None:
    ends["write"] = Wrong("503")
    assert command.tour(on(Answers())) == 1
    found = outcomes(capsys.readouterr().out)
    assert {text for name, text in found.items() if name not in ("page", "write")} == {
        "FAILED: not tried, since the write failed"
    }


def test_a_read_that_lacks_the_write_is_wrong() -> None:
    tour = on(Answers(GET=httpx.Response(200, json={"rows": []})))
    with pytest.raises(Wrong, match=r"the grid shows \[\]"):
        steps.read(tour)


def test_an_answer_with_another_status_is_wrong() -> None:
    with pytest.raises(Wrong, match=r"POST https://api\.invalid/v1/projects answered 503: busy"):
        steps.write(on(Answers(POST=httpx.Response(503, text="busy"))))


def test_a_missing_outcome_is_wrong_after_the_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "PATIENCE", -1.0)
    with pytest.raises(Wrong, match="nothing came within"):
        outcome.wait_for(lambda: None, "nothing came")
    assert outcome.wait_for(lambda: "found", "nothing came") == "found"


@pytest.mark.parametrize(
    ("isolated", "ended", "outcome_"),
    [
        (isolation.SESSIONS, RIGHT, None),
        (isolation.SESSIONS, RIGHT._replace(foreign=DONE), Wrong),
        (isolation.SESSIONS, RIGHT._replace(foreign="Throttling"), Wrong),
        (isolation.SESSIONS, RIGHT._replace(own=DENIED), Wrong),
        (isolation.SESSIONS, RIGHT._replace(untagged=DONE), Wrong),
        (isolation.SESSIONS, RIGHT._replace(without=DONE), Wrong),
        (isolation.EMULATED, RIGHT._replace(foreign=DONE), NotShown),
        (isolation.EMULATED, RIGHT._replace(foreign=DONE, without=DONE), Wrong),
        (isolation.EMULATED, RIGHT, None),
        (isolation.NONE, RIGHT._replace(foreign=DONE), NotShown),
    ],
)
def test_the_isolation_step_judges_the_answer_of_iam(
    monkeypatch: pytest.MonkeyPatch, isolated: str, ended: Ended, outcome_: type[Exception] | None
) -> None:
    monkeypatch.setattr(deployed, "probed", lambda *_: ended)
    outputs = {isolation.OUTPUT: isolated}
    stack = DeployedStack("Gridview", outputs, {False: "a1", True: "a2"}, {False: "", True: ""}, None)
    if outcome_ is None:
        stack.foreign_keys("p")
        return
    with pytest.raises(outcome_):
        stack.foreign_keys("p")


def test_a_message_is_signed_by_its_secret_and_by_no_other() -> None:
    secret, other = (f"whsec_{b64encode(one).decode()}" for one in (b"one", b"other"))
    signature = b64encode(hmac.digest(b"one", b"m1.7.body", hashlib.sha256)).decode()
    message = ("m1", "7", f"v1,nothing v1,{signature}", b"body")
    assert is_signed(secret, message)
    assert not is_signed(other, message)
    assert not is_signed(secret, (*message[:3], b"another"))


@pytest.mark.parametrize("option", ["--stack-name", "--profile", "--receiver"])
def test_options_of_a_deployed_stack_need_the_word(option: str, capsys: Any) -> None:
    assert cli.main(["smoke", option, "x"]) == 1
    assert "Add --deployed" in capsys.readouterr().err

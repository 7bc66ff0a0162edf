"""The effects of the routes of jobs: changes of all that a filter matches, exports, and the jobs themselves."""

from urllib.parse import urlsplit

import boto3

from gridview.encoding import keys
from tests.support.cloud import EXPORTS
from tests.support.effects import CALLER, PROJECT, TENANT, Example, issue
from tests.support.worked_example import PATH

THE_CHANGE = "0b9f6c1e-3d3a-4a57-9c0e-7a3f5be2d914"
"""The X-Change-Id of the event files."""


def begun(example: Example, status: str = "waiting") -> str:
    """The path, below the project's, of the job that the request has begun."""
    answer = example.write(202)
    assert example.api.get(answer.headers["location"]).body == answer.body
    assert (answer.body["state"], answer.body["created_by"]) == (status, CALLER)
    job = answer.body["id"]
    parts = keys.job_parts(TENANT, PROJECT, job), keys.ASKED
    line = keys.job_line(TENANT), keys.LINE
    assert {(keys.jobs(TENANT, PROJECT), job), parts, line} < example.changed.keys()
    example.settle()
    return f"/jobs/{job}"


def test_update_matching(example: Example) -> None:
    job = example.get(begun(example))
    assert (job["kind"], job["state"], job["done"], job["refused"]) == ("update", "done", 2, 0)
    for num, version in ((1, 2), (2, 1), (3, 2)):
        found = example.get(f"/issues/{num}")
        assert (found["version"], found["state"]) == (version, "closed")
    assert example.item(issue(1))["fields"]["a3"] == example.item(issue(3))["fields"]["a3"] == 7
    assert example.rows("3fe6") == [1, 3, 2]
    events = [one["id"] for one in example.get("/activity")["items"] if one["change"] == THE_CHANGE]
    assert sorted(events) == ["1.2", "3.2"]


def test_delete_matching(example: Example) -> None:
    job = example.get(begun(example))
    assert (job["kind"], job["state"], job["done"], job["refused"]) == ("delete", "done", 1, 0)
    assert example.gone("/issues/1"), "of the open ones, the first by Start, the latest first"
    assert example.rows("-3812") == [2, 3]
    assert [(one["num"], one["deleted_by"]) for one in example.get("/trash")["items"]] == [(1, CALLER)]


def test_export(example: Example) -> None:
    path = begun(example)
    job = example.get(path)
    assert (job["kind"], job["state"], job["done"]) == ("export", "done", 2)
    place = urlsplit(job["url"]).path.removeprefix("/")
    file = boto3.client("s3").get_object(Bucket=EXPORTS, Key=place)["Body"].read().decode()
    assert file == "num,name,Start\r\n1,Needs Painting,2023-05-01\r\n3,Girder needs replacing,\r\n"
    assert example.rows("-3812") == [2, 1, 3]


def test_list_jobs(example: Example) -> None:
    first = example.before("update_matching").body["id"]
    example.settle()
    last = example.before("export").body["id"]
    assert [(one["id"], one["kind"], one["state"]) for one in example.read().body["items"]] == [
        (last, "export", "waiting"),
        (first, "update", "done"),
    ]


def test_get_job(example: Example) -> None:
    waiting = example.before("update_matching").body
    job = example.read().body
    assert job == waiting
    assert (job["kind"], job["state"], job["change"]) == ("update", "waiting", THE_CHANGE)


def test_cancel_job(example: Example) -> None:
    job = example.before("update_matching").body["id"]
    example.write(204)
    assert (keys.jobs(TENANT, PROJECT), job) in example.changed
    example.settle()
    cancelled = example.get(f"/jobs/{job}")
    assert (cancelled["state"], cancelled["done"]) == ("cancelled", 0)
    assert [example.get(f"/issues/{num}")["version"] for num in (1, 2, 3)] == [1, 1, 1]


def test_list_refused(example: Example) -> None:
    assert example.api.patch(f"{PATH}/attributes/882a", {"required": True}).status == 200
    job = example.before("update_matching").body["id"]
    example.settle()
    (refused,) = example.read().body["items"]
    (missing,) = refused["problem"]["errors"]
    assert (refused["num"], missing["field"]) == (3, "fields.882a")
    done = example.get(f"/jobs/{job}")
    assert (done["state"], done["done"], done["refused"]) == ("done", 1, 1)
    assert (example.get("/issues/1")["state"], example.get("/issues/3")["state"]) == ("closed", "open")

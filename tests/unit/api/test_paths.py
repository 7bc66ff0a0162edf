"""The known path that a request names."""

import pytest

from gridview.api.paths import EVERY_PATH, fits, most_specific
from infra.routes import BY_PATH

ISSUES = "/v1/projects/{project}/issues"


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/v1/projects", "/v1/projects"),
        ("/v1/projects/35e9", "/v1/projects/{project}"),
        ("/v1/projects/no id!", "/v1/projects/{project}"),
        ("/v1/projects/projects", "/v1/projects/{project}"),
        ("/v1/projects/35e9/issues/batch", f"{ISSUES}/batch"),
        ("/v1/projects/35e9/issues/update-matching", f"{ISSUES}/update-matching"),
        ("/v1/projects/35e9/issues/7", f"{ISSUES}/{{num}}"),
        ("/v1/projects/35e9/issues/batches", f"{ISSUES}/{{num}}"),
        ("/v1/projects/35e9/issues/batch/comments", f"{ISSUES}/{{num}}/comments"),
        ("/v1/projects/{project}/issues/{num}", f"{ISSUES}/{{num}}"),
    ],
)
def test_a_literal_segment_counts_more_than_a_parameter(path: str, known: str) -> None:
    for paths in (list(BY_PATH), list(BY_PATH)[::-1]):
        assert most_specific(paths, path) == known


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/v1",
        "/v1/",
        "/v1/health/",
        "/v1//health",
        "//v1/health",
        "/V1/health",
        "/v1/Health",
        "/v1/projects/",
        "/v1/projects//grid",
        "/v1/projects/35e9/",
        "/v1/projects/35e9/nowhere",
        "/v1/projects/35e9/issues/1/2",
        EVERY_PATH,
    ],
)
def test_a_path_that_no_endpoint_has_fits_none(path: str) -> None:
    assert most_specific(BY_PATH, path) is None


def test_the_first_segment_that_differs_decides() -> None:
    assert most_specific(["/a/{b}/c", "/a/b/{c}"], "/a/b/c") == "/a/b/{c}"


def test_one_known_path_may_fit_another() -> None:
    assert fits("/a/{b}", "/a/c")
    assert fits("/a/{b}", "/a/{c}")
    assert not fits("/a/c", "/a/{b}")

"""Refusals of the bucket of exports, in the forms that AWS documents. Its calls: tests/engine/test_local_bucket.py."""

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from gridview.maintenance.export_files import ExportFiles, UploadGone


def refused(method: str, code: str, status: int) -> ExportFiles:
    files = ExportFiles("exports")
    answers = Stubber(files._s3)
    answers.add_client_error(method, code, http_status_code=status)
    answers.activate()
    return files


@pytest.mark.parametrize(("code", "status"), [("NoSuchKey", 404), ("AccessDenied", 403)])
def test_lines_that_are_gone_begin_the_file_again(code: str, status: int) -> None:
    """S3 has no 404 for a role that may not list the bucket."""
    with pytest.raises(UploadGone):
        refused("get_object", code, status).set_aside("tails/0807/35e9/job/0")


def test_a_missing_right_to_write_is_an_error() -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        refused("put_object", "AccessDenied", 403).put_aside("0807", "35e9", "job", b"lines")

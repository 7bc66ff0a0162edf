"""The files of exports in S3, put together from parts.

```
files/<tenant>/<project>/<job>.csv       whole files; the bucket removes them after FILE_DAYS
tails/<tenant>/<project>/<job>/<random>  lines of a turn that no part holds yet; removed after a day
```

The bucket also removes an upload that was never completed. A passing refusal by S3 is Overloaded, and the job
waits.
"""

import uuid
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from gridview.support import aws
from gridview.support.errors import Overloaded

FILES: Final = "files/"
TAILS: Final = "tails/"

MEDIA: Final = {"csv": "text/csv; charset=utf-8", "ndjson": "application/x-ndjson"}
"""The media type of a file by its form."""

FILE_DAYS: Final = 7
"""Days after which the bucket removes a file. No link to it is given out after that."""

_GONE = {"NoSuchUpload", "InvalidPart", "NoSuchKey", "404", "403"}
_MISSING = ("get_object", "AccessDenied")
"""S3 refuses to read a missing key, because the role may not list the bucket."""
_BUSY = {"SlowDown", "RequestTimeout", "OperationAborted"}


class UploadGone(Exception):
    """S3 has no such upload, or other parts of it than were noted."""


def file_key(tenant: str, project: str, job: str, form: str) -> str:
    """Return the key of a whole file."""
    return f"{FILES}{tenant}/{project}/{job}.{form}"


class ExportFiles:
    """The bucket, for workers that write files."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    @cached_property
    def _s3(self) -> Any:
        """Made when the first file is written: most containers never write one."""
        return aws.client("s3", aws.FOR_FILES)

    def begin(self, key: str, media: str) -> str:
        """Begin a multipart upload; returns its id. One request."""
        answer = self._call("create_multipart_upload", Key=key, ContentType=media)
        return str(answer["UploadId"])

    def part(self, key: str, upload: str, number: int, body: bytes) -> str:
        """Put a part, from 1 on, over any other of its number; returns its ETag. One request. UploadGone."""
        answer = self._call("upload_part", Key=key, UploadId=upload, PartNumber=number, Body=body)
        return str(answer["ETag"])

    def complete(self, key: str, upload: str, parts: Sequence[str]) -> None:
        """Make the file of all parts, by their ETags. One request. UploadGone."""
        listed = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(parts, 1)]
        self._call("complete_multipart_upload", Key=key, UploadId=upload, MultipartUpload={"Parts": listed})

    def abort(self, key: str, upload: str) -> None:
        """Give an upload up; nothing happens if it has gone. One request."""
        try:
            self._call("abort_multipart_upload", Key=key, UploadId=upload)
        except UploadGone:
            return

    def put(self, key: str, media: str, body: bytes) -> None:
        """Put a whole file. One request."""
        self._call("put_object", Key=key, ContentType=media, Body=body)

    def exists(self, key: str) -> bool:
        """Return whether there is a whole file. One request."""
        try:
            self._call("head_object", Key=key)
        except UploadGone:
            return False
        return True

    def put_aside(self, tenant: str, project: str, job: str, body: bytes) -> str:
        """Keep lines that no part holds yet; return the key, which nobody else has. One request."""
        key = f"{TAILS}{tenant}/{project}/{job}/{uuid.uuid4().hex}"
        self._call("put_object", Key=key, Body=body)
        return key

    def set_aside(self, key: str) -> bytes:
        """Return the lines that were kept. One request. UploadGone."""
        body: bytes = self._call("get_object", Key=key)["Body"].read()
        return body

    def _call(self, operation: str, **parameters: Any) -> Any:
        try:
            return getattr(self._s3, operation)(Bucket=self._bucket, **parameters)
        except aws.FAILURES as error:
            code, status = aws.refusal(error)
            if code in _GONE or (operation, code) == _MISSING:
                raise UploadGone(code) from error
            if not status or status >= 500 or code in _BUSY:
                raise Overloaded(
                    "The bucket of exports cannot be reached; the job continues in a moment."
                ) from error
            raise

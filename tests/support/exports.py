"""S3 in memory, for exports: its rules of multipart uploads, and a hook before and after each call."""

import hashlib
import io
from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

Around = Callable[[str, Callable[[], Any]], Any]


class MemoryS3:
    """Replaces botocore's client of S3."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.completed = 0
        self.around: Around = lambda _, perform: perform()

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        found = getattr(type(self), f"_{operation}", None)
        if found is None:
            raise AttributeError(operation)
        return lambda **parameters: self.around(operation, lambda: found(self, **parameters))

    def _create_multipart_upload(self, **_: Any) -> Any:
        upload = f"upload{len(self.uploads) + self.completed}"
        self.uploads[upload] = {}
        return {"UploadId": upload}

    def _upload_part(self, UploadId: str, PartNumber: int, Body: bytes, **_: Any) -> Any:  # noqa: N803
        self._upload(UploadId)[PartNumber] = Body
        return {"ETag": _etag(Body)}

    def _complete_multipart_upload(self, Key: str, UploadId: str, MultipartUpload: Any, **_: Any) -> Any:  # noqa: N803
        parts = self._upload(UploadId)
        listed = {one["PartNumber"]: one["ETag"] for one in MultipartUpload["Parts"]}
        if not listed or any(_etag(parts.get(number, b"none")) != etag for number, etag in listed.items()):
            raise _refused("InvalidPart", 400)
        self.objects[Key] = b"".join(parts[number] for number in sorted(listed))
        del self.uploads[UploadId]
        self.completed += 1
        return {}

    def _abort_multipart_upload(self, UploadId: str, **_: Any) -> Any:  # noqa: N803
        self._upload(UploadId)
        del self.uploads[UploadId]
        self.completed += 1
        return {}

    def _put_object(self, Key: str, Body: bytes, **_: Any) -> Any:  # noqa: N803
        self.objects[Key] = Body
        return {}

    def _head_object(self, Key: str, **_: Any) -> Any:  # noqa: N803
        if Key not in self.objects:
            raise _refused("403", 403)  # a caller without the right to list gets no other answer
        return {}

    def _get_object(self, Key: str, **_: Any) -> Any:  # noqa: N803
        if Key not in self.objects:
            raise _refused("NoSuchKey", 404)
        return {"Body": io.BytesIO(self.objects[Key])}

    def _upload(self, upload: str) -> dict[int, bytes]:
        if upload not in self.uploads:
            raise _refused("NoSuchUpload", 404)
        return self.uploads[upload]

    @property
    def files(self) -> dict[str, bytes]:
        """The whole files."""
        return {key: body for key, body in self.objects.items() if key.startswith("files/")}

    def copy(self) -> "MemoryS3":
        """The same objects and uploads, for another worker that continues."""
        copy = MemoryS3()
        copy.objects = dict(self.objects)
        copy.uploads = {name: dict(parts) for name, parts in self.uploads.items()}
        copy.completed = self.completed
        return copy


def _etag(body: bytes) -> str:
    return hashlib.md5(body, usedforsecurity=False).hexdigest()


def _refused(code: str, status: int) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "call")  # type: ignore[typeddict-item]

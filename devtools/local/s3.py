"""The local buckets of exports and of batches, which botocore takes for S3: files in the data folder, and links that only their
signature opens.

They take what exports and batches need: whole objects, multipart uploads, a list, and reading with a link. Each request has to be
signed by the stack's own secret (AWS's Signature Version 4), for at most as long as its link is good. Old files are removed, as a
bucket's lifecycle would. moto's server keeps no file and checks no signature: decision 0073.
"""

import hashlib
import hmac
import re
import shutil
import socket
import time
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qsl, unquote
from xml.etree import ElementTree

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from devtools.local import tokens
from devtools.local.service import Asked, Reply, Service
from gridview.maintenance.export_files import FILE_DAYS

BUCKET = "gridview_exports"
"""No name of a host can have an underscore, so the bucket is in the path, whatever the name of the endpoint."""

BATCHES = "gridview_batches"
"""The bucket of failed and waiting batches."""

_BATCH = re.compile(r"(?:aws/lambda|waiting)(?:/[A-Za-z0-9_][A-Za-z0-9_.:-]*)+")
_KEY = re.compile(r"(?:files|tails)(?:/[A-Za-z0-9_-]+)+(?:\.[a-z]+)?")
_PART = re.compile(r"[1-9][0-9]{0,4}")
_UPLOAD = re.compile(r"[0-9a-f]{32}")
_NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"
_DAY = 86_400.0
_CLOCKS_APART = 900.0


def secret_in(data: Path) -> str:
    """The secret key that requests are signed by, made of the data folder's own secret."""
    return hmac.new(tokens.cursor_secret_in(data).encode(), b"exports", "sha256").hexdigest()


class _RefusedError(Exception):
    """S3 refuses such a request."""

    def __init__(self, status: HTTPStatus, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


class _Files:
    """The files below a folder whose names have a form. A whole one appears at once. Safe for use by many threads and requests."""

    def __init__(self, folder: Path, form: re.Pattern[str], unfinished: Path) -> None:
        """`unfinished`: the folder, on the same disk, in which a file is until it is whole."""
        self._folder, self._form, self._unfinished = folder, form, unfinished

    def put(self, key: str, body: bytes) -> str:
        """Put a file; returns its ETag."""
        self._write(self._path(key), [body])
        return _etag(body)

    def path(self, key: str) -> Path:
        """The path of a file."""
        found = self._path(key)
        if not found.is_file():
            raise _RefusedError(HTTPStatus.NOT_FOUND, "NoSuchKey")
        return found

    def _path(self, key: str) -> Path:
        if not self._form.fullmatch(key):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "InvalidArgument")
        return self._folder / key

    def _write(self, path: Path, parts: Iterable[bytes]) -> None:
        for folder in (self._unfinished, path.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = self._unfinished / f"{self._folder.name}.{uuid.uuid4().hex}"
        with made.open("wb") as target:
            target.writelines(parts)
        made.replace(path)


class Objects(_Files):
    """The objects below a folder, and their uploads."""

    def __init__(self, folder: Path) -> None:
        self._uploads = folder / "uploads"
        super().__init__(folder / "objects", _KEY, self._uploads)

    def begin(self, key: str) -> str:
        """Begin an upload; returns its id."""
        self._path(key)
        upload = uuid.uuid4().hex
        (self._uploads / upload).mkdir(parents=True, mode=0o700)
        return upload

    def part(self, upload: str, number: str, body: bytes) -> str:
        """Put a part; returns its ETag."""
        if not _PART.fullmatch(number):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "InvalidArgument")
        self._write(self._upload(upload) / number, [body])
        return _etag(body)

    def complete(self, key: str, upload: str, parts: list[tuple[str, str]]) -> str:
        """Make an object of these parts (number, ETag), and end the upload."""
        folder, whole = self._upload(upload), self._path(key)
        if not parts:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "MalformedXML")
        for number, etag in parts:
            part = folder / number
            if not _PART.fullmatch(number) or not part.is_file() or _etag(part.read_bytes()) != etag:
                raise _RefusedError(HTTPStatus.BAD_REQUEST, "InvalidPart")
        self._write(whole, ((folder / number).read_bytes() for number, _ in parts))
        shutil.rmtree(folder)
        return f'"{upload}-{len(parts)}"'

    def abort(self, upload: str) -> None:
        """End an upload."""
        shutil.rmtree(self._upload(upload))

    def sweep(self) -> None:
        """Remove old entries: files after a week, the rest after a day or two, as the bucket's rules say."""
        for below, days in ((self._folder / "files", FILE_DAYS), (self._folder / "tails", 1)):
            for path in below.rglob("*"):
                if path.is_file() and _is_older(path, days):
                    path.unlink(missing_ok=True)
        for path in self._uploads.glob("*"):
            if _is_older(path, 2):
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    def _upload(self, upload: str) -> Path:
        folder = self._uploads / upload
        if not _UPLOAD.fullmatch(upload) or not folder.is_dir():
            raise _RefusedError(HTTPStatus.NOT_FOUND, "NoSuchUpload")
        return folder


class BatchFiles(_Files):
    """The batches below a folder. Files that are not whole are beside it, since tools list it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, _BATCH, folder.parent)

    def remove(self, key: str) -> None:
        """Remove a batch, if it is there."""
        self._path(key).unlink(missing_ok=True)

    def names(self) -> list[str]:
        """The first 1,000 names, sorted."""
        found = (path for path in self._folder.rglob("*") if path.is_file())
        return sorted(path.relative_to(self._folder).as_posix() for path in found)[:1000]


def _is_older(path: Path, days: float) -> bool:
    try:
        return path.stat().st_mtime < time.time() - days * _DAY
    except FileNotFoundError:  # another request has moved or removed it
        return False


def _etag(body: bytes) -> str:
    # S3 defines it so; it is no protection.
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


# Signatures


def check_signature(secret: str, method: str, target: str, headers: Mapping[str, str], now: float) -> None:
    """Refuse a request that is not signed by this secret, or whose link has ended. `headers` have lower-case names."""
    path, _, query = target.partition("?")
    link = dict(parse_qsl(query, keep_blank_values=True))
    if "X-Amz-Signature" in link:
        signer: type[S3SigV4Auth | S3SigV4QueryAuth] = S3SigV4QueryAuth
        given = {name.removeprefix("X-Amz-"): value for name, value in link.items()}
        lasts = float(given["Expires"]) if given.get("Expires", "").isdecimal() else 0.0
        query = "&".join(part for part in query.split("&") if not part.startswith("X-Amz-Signature="))
    else:
        signer = S3SigV4Auth
        given = dict(
            re.findall(r"(Credential|SignedHeaders|Signature)=([^,\s]+)", headers.get("authorization", ""))
        )
        given["Date"] = headers.get("x-amz-date", "")
        lasts = _CLOCKS_APART
    try:
        begun = datetime.strptime(given.get("Date", ""), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
        _, _, region, service, _ = given.get("Credential", "").split("/")
    except ValueError:
        raise _RefusedError(HTTPStatus.FORBIDDEN, "AccessDenied") from None
    signed = {name: headers.get(name, "") for name in given.get("SignedHeaders", "").split(";")}
    request = AWSRequest(method, f"http://{headers.get('host', '')}{path}?{query}", signed)
    request.context["timestamp"] = given["Date"]
    ours = signer(Credentials("any", secret), service, region)
    wanted = ours.signature(ours.string_to_sign(request, ours.canonical_request(request)), request)
    if not hmac.compare_digest(wanted.encode(), given.get("Signature", "").encode()):
        raise _RefusedError(HTTPStatus.FORBIDDEN, "SignatureDoesNotMatch")
    if not begun - _CLOCKS_APART < now < begun + lasts:
        raise _RefusedError(HTTPStatus.FORBIDDEN, "AccessDenied")


# HTTP


class S3Server(Service):
    """The part of S3 that exports and batches need."""

    def __init__(
        self, folder: Path, secret: str, listener: socket.socket | None = None, *, batches: Path | None = None
    ) -> None:
        """`folder`: where the files are. `batches`: where the batches are; None: there is no bucket of them. `listener` as for any
        service."""
        self.secret = secret
        self.objects = Objects(folder)
        self._batches = None if batches is None else BatchFiles(batches)
        super().__init__(self._answer, listener)

    def _answer(self, asked: Asked) -> Reply:
        try:
            check_signature(self.secret, asked.method, asked.target, asked.headers, time.time())
            path, _, query = asked.target.partition("?")
            bucket, _, key = unquote(path)[1:].partition("/")
            if bucket == BATCHES and self._batches is not None:
                return _do_with_batch(self._batches, asked, key)
            if bucket != BUCKET:
                raise _RefusedError(HTTPStatus.NOT_FOUND, "NoSuchBucket")
            return self._do(asked, key, dict(parse_qsl(query, keep_blank_values=True)))
        except _RefusedError as refused:
            return _xml("Error", refused.status, Code=refused.code)

    def _do(self, asked: Asked, key: str, query: Mapping[str, str]) -> Reply:
        objects, upload = self.objects, query.get("uploadId", "")
        match asked.method:
            case "GET" | "HEAD":
                names = ("Content-Disposition", "Content-Type")
                headers = {name: value for name in names if (value := query.get(f"response-{name.lower()}"))}
                return Reply(HTTPStatus.OK, objects.path(key), headers)
            case "PUT" if upload:
                etag = objects.part(upload, query.get("partNumber", ""), asked.body)
                return Reply(HTTPStatus.OK, headers={"ETag": etag})
            case "PUT":
                objects.sweep()
                return Reply(HTTPStatus.OK, headers={"ETag": objects.put(key, asked.body)})
            case "POST" if "uploads" in query:
                return _xml("InitiateMultipartUploadResult", UploadId=objects.begin(key))
            case "POST" if upload:
                etag = objects.complete(key, upload, _parts_in(asked.body))
                return _xml("CompleteMultipartUploadResult", Key=key, ETag=etag)
            case "DELETE" if upload:
                objects.abort(upload)
                return Reply(HTTPStatus.NO_CONTENT)
        raise _RefusedError(HTTPStatus.NOT_IMPLEMENTED, "NotImplemented")


def _do_with_batch(batches: BatchFiles, asked: Asked, key: str) -> Reply:
    match asked.method:
        case "GET" if not key:
            return _listed(batches.names())
        case "GET":
            return Reply(HTTPStatus.OK, batches.path(key))
        case "PUT":
            return Reply(HTTPStatus.OK, headers={"ETag": batches.put(key, asked.body)})
        case "DELETE":
            batches.remove(key)
            return Reply(HTTPStatus.NO_CONTENT)
    raise _RefusedError(HTTPStatus.NOT_IMPLEMENTED, "NotImplemented")


def _listed(names: list[str]) -> Reply:
    root = ElementTree.Element("ListBucketResult")
    for name in names:
        ElementTree.SubElement(ElementTree.SubElement(root, "Contents"), "Key").text = name
    return Reply(HTTPStatus.OK, ElementTree.tostring(root), {"Content-Type": "application/xml"})


def _xml(name: str, status: HTTPStatus = HTTPStatus.OK, **fields: str) -> Reply:
    root = ElementTree.Element(name)
    for child, text in fields.items():
        ElementTree.SubElement(root, child).text = text
    body = b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root)
    return Reply(status, body, {"Content-Type": "application/xml"})


def _parts_in(body: bytes) -> list[tuple[str, str]]:
    """The parts that a request to complete an upload names."""
    try:
        root = ElementTree.fromstring(body)  # noqa: S314 - signed by the stack's own functions
    except ElementTree.ParseError:
        raise _RefusedError(HTTPStatus.BAD_REQUEST, "MalformedXML") from None
    return [
        (part.findtext(f"{_NAMESPACE}PartNumber", ""), part.findtext(f"{_NAMESPACE}ETag", ""))
        for part in root.iter(f"{_NAMESPACE}Part")
    ]

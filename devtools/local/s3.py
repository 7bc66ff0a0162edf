"""The local bucket of exports, which botocore takes for S3: files in the data folder, and links that only their signature opens.

It takes what exports need: whole objects, multipart uploads, and reading by whoever has signed for it. Each request has to be
signed by the stack's own secret, links by the same rules as those of S3 (AWS's Signature Version 4). What is old is removed, as a
bucket's lifecycle would.
"""

import hashlib
import hmac
import http.server
import re
import shutil
import socket
import threading
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.etree import ElementTree

from devtools.local import tokens
from gridview.maintenance.export_files import FILE_DAYS

BUCKET = "gridview_exports"
"""No name of a host can have an underscore, so the bucket stands in the path whatever the endpoint is called."""

_KEY = re.compile(r"(?:files|tails)(?:/[A-Za-z0-9_-]+)+(?:\.[a-z]+)?")
_PART = re.compile(r"[1-9][0-9]{0,4}")
_UPLOAD = re.compile(r"[0-9a-f]{32}")
_NAMESPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"
_MAX_BODY = 128 * 1024 * 1024
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


class Objects:
    """The objects and uploads below a folder. A whole object appears at once. Safe for use by many threads and requests."""

    def __init__(self, folder: Path) -> None:
        self._objects, self._uploads = folder / "objects", folder / "uploads"

    def put(self, key: str, body: bytes) -> str:
        """Put an object; returns its ETag."""
        self.sweep()
        _write(self._path(key), body)
        return _etag(body)

    def path(self, key: str) -> Path:
        """Where an object is."""
        found = self._path(key)
        if not found.is_file():
            raise _RefusedError(HTTPStatus.NOT_FOUND, "NoSuchKey")
        return found

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
        _write(self._upload(upload) / number, body)
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
        whole.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = whole.with_name(f"{whole.name}.{uuid.uuid4().hex}")
        with made.open("wb") as target:
            for number, _ in parts:
                with (folder / number).open("rb") as source:
                    shutil.copyfileobj(source, target)
        made.replace(whole)
        shutil.rmtree(folder)
        return f'"{upload}-{len(parts)}"'

    def abort(self, upload: str) -> None:
        """End an upload."""
        shutil.rmtree(self._upload(upload))

    def sweep(self) -> None:
        """Remove what is old: files after a week, the rest after a day or two, as the bucket's rules say."""
        now = time.time()
        for below, days in ((self._objects / "files", FILE_DAYS), (self._objects / "tails", 1)):
            for path in below.rglob("*"):
                if path.is_file() and path.stat().st_mtime < now - days * _DAY:
                    path.unlink(missing_ok=True)
        for path in self._uploads.glob("*"):
            if path.stat().st_mtime < now - 2 * _DAY:
                shutil.rmtree(path, ignore_errors=True)

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "InvalidArgument")
        return self._objects / key

    def _upload(self, upload: str) -> Path:
        folder = self._uploads / upload
        if not _UPLOAD.fullmatch(upload) or not folder.is_dir():
            raise _RefusedError(HTTPStatus.NOT_FOUND, "NoSuchUpload")
        return folder


def _write(path: Path, body: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    made.write_bytes(body)
    made.replace(path)


def _etag(body: bytes) -> str:
    # S3 defines it so; it is no protection.
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


# Signatures


def check_signature(secret: str, method: str, target: str, headers: Mapping[str, str], now: float) -> None:
    """Refuse a request that is not signed by this secret, or whose link has ended. `headers` have lower-case names."""
    parts = urlsplit(target)
    query = parse_qsl(parts.query, keep_blank_values=True)
    told = dict(query)
    if "X-Amz-Signature" in told:
        signature, instant = told["X-Amz-Signature"], told.get("X-Amz-Date", "")
        scope = told.get("X-Amz-Credential", "").partition("/")[2]
        names, digest = told.get("X-Amz-SignedHeaders", ""), "UNSIGNED-PAYLOAD"
        lasts = float(told["X-Amz-Expires"]) if told.get("X-Amz-Expires", "").isdecimal() else 0.0
    else:
        given = dict(
            re.findall(r"(Credential|SignedHeaders|Signature)=([^,\s]+)", headers.get("authorization", ""))
        )
        signature, instant = given.get("Signature", ""), headers.get("x-amz-date", "")
        scope = given.get("Credential", "").partition("/")[2]
        names, digest = given.get("SignedHeaders", ""), headers.get("x-amz-content-sha256", "")
        lasts = _CLOCKS_APART
    try:
        begun = datetime.strptime(instant, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise _RefusedError(HTTPStatus.FORBIDDEN, "AccessDenied") from None
    canonical = "\n".join(
        (
            method,
            parts.path,
            "&".join(
                sorted(
                    f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
                    for name, value in query
                    if name != "X-Amz-Signature"
                )
            ),
            *(f"{name}:{' '.join(headers.get(name, '').split())}" for name in names.split(";")),
            "",
            names,
            digest,
        )
    )
    wanted = f"AWS4-HMAC-SHA256\n{instant}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    if not hmac.compare_digest(hmac.digest(key, wanted.encode(), "sha256").hex(), signature):
        raise _RefusedError(HTTPStatus.FORBIDDEN, "SignatureDoesNotMatch")
    if not begun - _CLOCKS_APART < now < begun + lasts:
        raise _RefusedError(HTTPStatus.FORBIDDEN, "AccessDenied")


# HTTP


class S3Server(http.server.ThreadingHTTPServer):
    """The part of S3 that exports need."""

    daemon_threads = True

    def __init__(self, folder: Path, secret: str, listener: socket.socket | None = None) -> None:
        """Use a listening socket, or listen on a port that the system chooses. `start` begins to answer."""
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=listener is None)
        if listener is not None:
            self.socket.close()
            self.socket = listener
            self.server_address = listener.getsockname()
        self.secret = secret
        self.objects = Objects(folder)

    @property
    def endpoint(self) -> str:
        """For AWS_ENDPOINT_URL_S3."""
        return endpoint(self.socket)

    def start(self) -> None:
        """Answer requests in a thread of its own."""
        threading.Thread(target=self.serve_forever, daemon=True, name="s3").start()


def endpoint(listener: socket.socket) -> str:
    """Where an S3Server behind this socket is reached."""
    host, port = listener.getsockname()
    return f"http://{host}:{port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: S3Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = b""
        try:
            length = int(self.headers.get("Content-Length") or 0)
            if length > _MAX_BODY:
                self.close_connection = True
                raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "EntityTooLarge")
            body = self.rfile.read(length)
            headers = {name.lower(): value for name, value in self.headers.items()}
            check_signature(self.server.secret, self.command, self.path, headers, time.time())
            parts = urlsplit(self.path)
            bucket, _, key = unquote(parts.path)[1:].partition("/")
            if bucket != BUCKET:
                raise _RefusedError(HTTPStatus.NOT_FOUND, "NoSuchBucket")
            self._do(key, dict(parse_qsl(parts.query, keep_blank_values=True)), body)
        except _RefusedError as refused:
            self._send(refused.status, _xml("Error", {"Code": refused.code}))

    def _do(self, key: str, query: Mapping[str, str], body: bytes) -> None:
        objects, upload = self.server.objects, query.get("uploadId", "")
        match self.command:
            case "GET" | "HEAD":
                self._send_file(objects.path(key), query)
            case "PUT" if upload:
                self._send(HTTPStatus.OK, ETag=objects.part(upload, query.get("partNumber", ""), body))
            case "PUT":
                self._send(HTTPStatus.OK, ETag=objects.put(key, body))
            case "POST" if "uploads" in query:
                self._send(
                    HTTPStatus.OK, _xml("InitiateMultipartUploadResult", {"UploadId": objects.begin(key)})
                )
            case "POST" if upload:
                etag = objects.complete(key, upload, _parts_in(body))
                self._send(HTTPStatus.OK, _xml("CompleteMultipartUploadResult", {"Key": key, "ETag": etag}))
            case "DELETE" if upload:
                objects.abort(upload)
                self._send(HTTPStatus.NO_CONTENT)
            case _:
                raise _RefusedError(HTTPStatus.NOT_IMPLEMENTED, "NotImplemented")

    def _send_file(self, path: Path, query: Mapping[str, str]) -> None:
        with path.open("rb") as content:
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Length", str(path.stat().st_size))
            for name in ("Content-Disposition", "Content-Type"):
                if told := query.get(f"response-{name.lower()}"):
                    self.send_header(name, told)
            self.end_headers()
            if self.command == "GET":
                shutil.copyfileobj(content, self.wfile)

    def _send(self, status: HTTPStatus, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Log nothing: links would be in it."""


def _xml(name: str, told: Mapping[str, str]) -> bytes:
    root = ElementTree.Element(name)
    for child, text in told.items():
        ElementTree.SubElement(root, child).text = text
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root)


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

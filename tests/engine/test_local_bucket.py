"""The local bucket through botocore: the calls of exports, and links that open only with their own signature."""

import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from devtools.local import s3
from devtools.local.environment import DUMMY_ACCOUNT
from gridview.maintenance import redrive
from gridview.maintenance.batch_bucket import BatchBucket
from gridview.maintenance.export_files import ExportFiles, UploadGone, file_key
from gridview.maintenance.export_links import ExportLinks, Link
from gridview.maintenance.waiting import Waiting

KEY = file_key("0807", "35e9", "018f3a5c2b71e7d4c90a", "csv")
MEDIA = "text/csv; charset=utf-8"


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[s3.S3Server]:
    server = s3.S3Server(tmp_path / "exports", s3.secret_in(tmp_path), batches=tmp_path / "failed-batches")
    server.start()
    for name, value in DUMMY_ACCOUNT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.secret)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server.endpoint)
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def files(bucket: s3.S3Server) -> ExportFiles:
    return ExportFiles(s3.BUCKET)


def link() -> str:
    return ExportLinks(s3.BUCKET, "").url(Link(KEY, "35e9.csv", MEDIA))


def opened(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - on this machine
        assert answer.headers["Content-Disposition"] == 'attachment; filename="35e9.csv"'
        assert answer.headers["Content-Type"] == MEDIA
        content: bytes = answer.read()
    return content


def status_of(url: str) -> int:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(url)  # noqa: S310 - on this machine
    return refused.value.code


def test_links_open_files_put_whole_and_files_uploaded_in_parts(files: ExportFiles) -> None:
    assert not files.exists(KEY)
    files.put(KEY, MEDIA, b"num\r\n1\r\n")
    assert files.exists(KEY)
    assert opened(link()) == b"num\r\n1\r\n"
    upload = files.begin(KEY, MEDIA)
    parts = [files.part(KEY, upload, number, body) for number, body in ((1, b"old"), (2, b"def"))]
    parts[0] = files.part(KEY, upload, 1, b"abc")
    assert opened(link()) == b"num\r\n1\r\n", "nothing is seen of an upload before it is complete"
    files.complete(KEY, upload, parts)
    assert opened(link()) == b"abcdef"
    with pytest.raises(UploadGone):
        files.complete(KEY, upload, parts)


def test_foreign_parts_and_aborted_uploads_are_refused(files: ExportFiles) -> None:
    upload = files.begin(KEY, MEDIA)
    etag = files.part(KEY, upload, 1, b"abc")
    files.part(KEY, upload, 1, b"late")
    with pytest.raises(UploadGone):
        files.complete(KEY, upload, [etag])
    files.abort(KEY, upload)
    files.abort(KEY, upload)
    with pytest.raises(UploadGone):
        files.part(KEY, upload, 1, b"abc")
    assert not files.exists(KEY)


def test_content_put_aside_is_read_again(files: ExportFiles) -> None:
    first, second = (files.put_aside("0807", "35e9", "job", body) for body in (b"one", b"two"))
    assert (files.set_aside(first), files.set_aside(second)) == (b"one", b"two")
    with pytest.raises(UploadGone):
        files.set_aside(first[:-1])


def test_only_links_signed_by_the_stack_open_files(
    files: ExportFiles, bucket: s3.S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.put(KEY, MEDIA, b"secret")
    url = link()
    assert opened(url) == b"secret"
    assert status_of(url.partition("?")[0]) == 403
    assert status_of(url[:-1] + ("0" if url[-1] != "0" else "1")) == 403
    assert status_of(url.replace("/files/0807/", "/files/0808/")) == 403
    assert status_of(url.replace("X-Amz-Expires=300", "X-Amz-Expires=3000")) == 403
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    assert status_of(link()) == 403
    with pytest.raises(Exception, match="SignatureDoesNotMatch"):
        ExportFiles(s3.BUCKET).put(KEY, MEDIA, b"forged")
    assert opened(url) == b"secret"


def test_a_link_ends(files: ExportFiles, bucket: s3.S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    files.put(KEY, MEDIA, b"secret")
    url, now = link(), time.time()
    parts = urlsplit(url)
    target, headers = f"{parts.path}?{parts.query}", {"host": parts.netloc}
    s3.check_signature(bucket.secret, "GET", target, headers, now + 290)
    for method, later in (("GET", 310), ("PUT", 0), ("DELETE", 0)):
        with pytest.raises(Exception, match=r"AccessDenied|SignatureDoesNotMatch"):
            s3.check_signature(bucket.secret, method, target, headers, now + later)


@pytest.mark.parametrize(
    "key", ["files/../../token.key", "../x", "files/0807/35e9/..", "token.key", "files//x"]
)
def test_no_key_leads_out_of_the_folder(
    files: ExportFiles, bucket: s3.S3Server, tmp_path: Path, key: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Exception, match=r"Invalid|Signature|NoSuch"):
        files.put(key, MEDIA, b"x")
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == [
        path for path in before if path.is_file()
    ]


def test_old_files_and_uploads_are_removed(files: ExportFiles, bucket: s3.S3Server, tmp_path: Path) -> None:
    files.put(KEY, MEDIA, b"x")
    tail, upload = files.put_aside("0807", "35e9", "job", b"x"), files.begin(KEY, MEDIA)
    objects = tmp_path / "exports" / "objects"
    for path, days in ((objects / tail, 1.1), (objects / KEY, 6.9)):
        _age(path, days)
    bucket.objects.sweep()
    assert files.exists(KEY)
    assert not (objects / tail).exists()
    _age(objects / KEY, 7.1)
    _age(tmp_path / "exports" / "uploads" / upload, 2.1)
    bucket.objects.sweep()
    assert not files.exists(KEY)
    with pytest.raises(UploadGone):
        files.part(KEY, upload, 1, b"x")


def _age(path: Path, days: float) -> None:
    then = time.time() - days * 86_400
    os.utime(path, (then, then))


@pytest.mark.usefixtures("bucket")
def test_the_bucket_of_batches_lists_reads_and_removes_them(tmp_path: Path) -> None:
    batches = BatchBucket(s3.BATCHES)
    assert batches.names() == []
    redrive.hand_over(batches, [{"dynamodb": {"Keys": {"PK": {"S": "issue-1"}}}}])
    (name,) = batches.names()
    assert Waiting.named(name) is not None
    kept = tmp_path / "failed-batches" / "aws/lambda/m/shardId-1/2024/01/01/2024-01-01T00.00.00-0f1e"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"what Lambda keeps")
    given_up = kept.relative_to(tmp_path / "failed-batches").as_posix()
    assert batches.names() == [given_up, name]
    assert batches.read(given_up) == b"what Lambda keeps"
    for one in (given_up, name, name):
        batches.remove(one)
    assert batches.names() == []
    assert batches.read(name) is None

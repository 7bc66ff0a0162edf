import base64
import gzip
import json

import pytest

from gridview.api.compression import LEAST_BYTES, accepts_gzip, body_of

PAGE = json.dumps([{"num": num, "name": "Girder needs replacing"} for num in range(200)]).encode()


@pytest.mark.parametrize(
    "header",
    [
        "gzip",
        "GZIP",
        "gzip, deflate, br, zstd",
        "br;q=1.0, gzip;q=0.8, *;q=0.1",
        "*",
        "x-gzip",
        "gzip ; q=0.5",
    ],
)
def test_gzip_is_allowed_by(header: str) -> None:
    assert accepts_gzip(header)


@pytest.mark.parametrize(
    "header", [None, "", "br", "identity", "gzip;q=0", "gzip;q=0.0, *", "*;q=0", "gzip;q=none", "gzipped"]
)
def test_gzip_is_not_allowed_by(header: str | None) -> None:
    assert not accepts_gzip(header)


def test_a_page_is_compressed_and_comes_out_again() -> None:
    body, headers = body_of(PAGE, "gzip")
    assert headers == {"Content-Encoding": "gzip"}
    assert body["isBase64Encoded"] is True
    assert gzip.decompress(base64.b64decode(body["body"])) == PAGE
    assert len(body["body"]) < len(PAGE) / 3
    assert body_of(PAGE, "gzip") == (body, headers)


def test_text_stays_text_for_others_and_where_nothing_is_gained() -> None:
    assert body_of(PAGE, None) == ({"body": PAGE.decode()}, {})
    short = PAGE[: LEAST_BYTES - 1]
    assert body_of(short, "gzip") == ({"body": short.decode()}, {})
    random = "".join(chr(33 + (num * num * 7919) % 9973 % 94) for num in range(LEAST_BYTES)).encode()
    packed = base64.b64encode(gzip.compress(random))
    assert ("isBase64Encoded" in body_of(random, "gzip")[0]) is (len(packed) < len(random))


def test_an_answer_beyond_lambdas_limit_may_still_fit() -> None:
    """The 6 MB limit applies to the compressed answer."""
    limit = 6 * 1024 * 1024
    body, _ = body_of(b'"' + b"girder " * limit + b'"', "gzip")
    assert len(body["body"]) < limit / 10

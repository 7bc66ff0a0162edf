"""Puts the page into the bucket of a deployment, as CDK's function does, which no emulator runs."""

from typing import Any

from infra import page, page_build


def upload(s3: Any, *, bucket: str, config: str) -> None:
    """Put the built page from `web/dist` into a bucket, with `config` as its configuration."""
    files = {
        f"/{file.relative_to(page_build.DIST).as_posix()}": file.read_bytes()
        for file in page_build.DIST.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    }
    for path, content in (files | {page.CONFIG: config.encode()}).items():
        s3.put_object(
            Bucket=bucket,
            Key=path.removeprefix("/"),
            Body=content,
            ContentType=page.content_type(path),
            CacheControl=page.cache_control(path),
        )

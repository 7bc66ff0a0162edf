"""The page in the bucket of a deployed stack."""

from collections.abc import Iterator
from pathlib import Path

from devtools.deployed.account import Account
from infra import page


def upload(account: Account, dist: Path, *, bucket: str, config: str) -> None:
    """Make the bucket hold the page that was built in `dist`, with `config` as its configuration, and nothing else.

    What a file names is there before it: `index.html` comes last, and then goes what only an older page had.
    """
    files = dict(_files(dist)) | {page.CONFIG: config.encode()}
    for path in sorted(files, key=lambda path: path == page.INDEX):
        account.put(
            bucket,
            path.removeprefix("/"),
            files[path],
            ContentType=page.content_type(path),
            CacheControl=page.cache_control(path),
        )
    account.remove(bucket, [key for key in account.keys_in(bucket) if f"/{key}" not in files])


def _files(dist: Path) -> Iterator[tuple[str, bytes]]:
    """Each file of the page by its path, but for the marks that a build leaves."""
    for file in dist.rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            yield f"/{file.relative_to(dist).as_posix()}", file.read_bytes()

"""The document as the file that the query function ships. It is built, and git ignores it."""

import gzip
import os
import tempfile
from pathlib import Path
from typing import Final

from gridview.encoding.json_codec import dumps
from infra.openapi.document import document
from infra.paths import ROOT

PATH: Final = ROOT / "functions" / "query" / "openapi.json.gz"


def write(path: Path = PATH) -> None:
    """Bring the file up to date with the routes.

    The same routes give the same bytes, and an equal file stays as it is.
    """
    content = gzip.compress(dumps(document()), mtime=0)
    if path.is_file() and path.read_bytes() == content:
        return
    # Other processes may read or write it at the same time: it is replaced whole.
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".openapi-", delete=False) as working:
        working.write(content)
    Path(working.name).chmod(0o644)
    os.replace(working.name, path)  # noqa: PTH105  as atomic, and it says so


if __name__ == "__main__":
    write()

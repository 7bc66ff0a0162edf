"""The web page as its server sees it: which addresses are the page's own, and the headers of its answers.

The local stack and CloudFront both serve the page by these rules.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath

OWN_SEGMENTS = frozenset({"callback", "projects"})
"""First segments of the paths that the page itself draws, in addition to `/`: each answers `index.html`."""

CALLBACK = "/callback"
"""The path to which the managed login redirects."""

INDEX = "/index.html"
"""The file that every path of the page itself answers."""

CONFIG = "/config.json"
"""The path of the page's configuration: how people sign in."""

HASHED = "/assets/"
"""The path of files whose names have a hash of their content."""

KEEP = "public, max-age=31536000, immutable"
"""`Cache-Control` of hashed files."""

ASK_AGAIN = "no-cache"
"""`Cache-Control` of everything else: a copy may be kept, and is not used before it was asked for again."""


_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}


def is_own(path: str) -> bool:
    """Whether the page draws this path."""
    return path == "/" or (path.startswith("/") and path.split("/", 2)[1] in OWN_SEGMENTS)


def content_type(path: str) -> str:
    """The media type of the file at this path, by its name."""
    return _TYPES.get(PurePosixPath(path).suffix, "application/octet-stream")


def cache_control(path: str) -> str:
    """The `Cache-Control` of this path: how long a browser may keep the file."""
    return KEEP if path.startswith(HASHED) else ASK_AGAIN


def security_headers(connect: Sequence[str] = ()) -> dict[str, str]:
    """The headers that keep others' code out of the page. It connects to its own origin, and to `connect`."""
    return {
        "content-security-policy": "; ".join(
            (
                "default-src 'none'",
                "script-src 'self'",
                "style-src 'self'",
                "img-src 'self' data:",
                "font-src 'self' data:",
                " ".join(("connect-src 'self'", *connect)),
                "base-uri 'none'",
                "form-action 'self'",
                "frame-ancestors 'none'",
            )
        ),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }

"""The headers of the API: of every answer, and of the exchange in which a browser asks for a page of another
origin (CORS).
"""

REQUEST_HEADERS = (
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "x-change-id",
    "x-consistency-token",
)
"""Headers that a page may send."""

RESPONSE_HEADERS = (
    "allow",
    "apigw-requestid",
    "etag",
    "location",
    "retry-after",
    "www-authenticate",
    "x-change-id",
    "x-consistency-token",
)
"""Headers that a page may read, beyond the few that browsers always show."""

OF_EVERY_ANSWER = {
    "Cache-Control": "no-store",
    "Vary": "Accept-Encoding, Authorization, Origin",
    "X-Content-Type-Options": "nosniff",
}
"""An answer belongs to one user, so no browser or proxy keeps it. No browser takes a user's text in it for HTML."""

PREFLIGHT_SECONDS = 7200
"""Seconds for which a browser may remember the answer of a preflight; Chromium takes no more."""

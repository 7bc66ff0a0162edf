"""The headers of the API that a browser asks about before it sends or shows them to a page of another origin (CORS)."""

REQUEST_HEADERS = (
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "x-change-id",
    "x-consistency-token",
)
"""What a page may send."""

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
"""What a page may read besides the few that browsers always show."""

VARY = "Accept-Encoding, Authorization, Origin"
"""What an answer depends on besides its address, for caches."""

PREFLIGHT_SECONDS = 7200
"""How long a browser may remember the answer of a preflight; Chromium takes no more."""

"""Consistency tokens in requests and answers: the writes that an answer has to include, and the writes that
it shows.
"""

from typing import Any

from aws_lambda_powertools import Logger

from gridview.api.http import Request
from gridview.api.sealing import CursorSource
from gridview.encoding.consistency import CONSISTENCY_TOKEN, Recent, still_good
from gridview.journal.feed_cursors import FeedCursor
from gridview.support import aws, clock
from gridview.view.shown_versions import Shown


def carried(request: Request[Any], source: CursorSource) -> Recent:
    """Return the writes that the answer has to include, by the request's tokens and cursors of changes.
    InvalidRequest.
    """
    header = request.header(CONSISTENCY_TOKEN.lower())
    if header is None:
        return ()
    tenant, project = request.actor.tenant, request.path["project"]
    feed = source.cursors("changes")
    opened = source.tokens().opened(header, tenant, lambda text: FeedCursor.held(text, feed, tenant, project))
    return still_good(opened, project, clock.seconds())


def token_header(request: Request[Any], source: CursorSource, shown: Shown, logger: Logger) -> dict[str, str]:
    """Return the token header of an answer that shows versions that the index may lack. None if it lacks
    nothing, or no secret is known.
    """
    if not shown.versions and not shown.number:
        return {}
    try:
        tokens = source.tokens()
    except aws.FAILURES:
        logger.exception("there is no secret to seal tokens with")
        return {}
    tenant, project = request.actor.tenant, request.path["project"]
    token = tokens.token(tenant, project, shown.versions, clock.seconds(), shown.number)
    return {CONSISTENCY_TOKEN: token}

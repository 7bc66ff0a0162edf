"""Links to the files of exports: presigned URLs of S3, which work for minutes, for anyone who has them."""

from functools import cache
from typing import Any, Final, NamedTuple

from gridview.dynamodb.sessions import SessionCredentials
from gridview.maintenance.export_files import FILE_DAYS, MEDIA
from gridview.schema.user_jobs import JobKind, UserJob
from gridview.support import aws, clock

LINK_SECONDS: Final = 300
"""Seconds for which a link works: no longer than a session of a tenant has left, but for rare moments."""

_DAY = 86_400.0


class Link(NamedTuple):
    """A file, and how a browser is to take it."""

    key: str
    name: str
    media: str


def link_of(project: str, job: UserJob) -> Link | None:
    """Return the link of a job that is done; None if it made no file, or the bucket has removed it."""
    key = str(job.at.get("file", "")) if job.kind is JobKind.EXPORT else ""
    if not key or clock.until(job.ended) < -FILE_DAYS * _DAY:
        return None
    form = next(form for form in MEDIA if key.endswith(f".{form}"))
    return Link(key, f"{project}-{job.id}.{form}", MEDIA[form])


class ExportLinks:
    """The bucket, for functions that give users links to their files. With a session role, links are of the
    tenant's own session.
    """

    def __init__(self, bucket: str, session_role: str) -> None:
        self._bucket = bucket
        self._s3: Any = aws.client(
            "s3", aws.FOR_FILES, SessionCredentials(session_role) if session_role else None
        )

    def url(self, link: Link) -> str:
        """Return a URL that is good for minutes. No request, but one to STS now and then."""
        parameters = {
            "Bucket": self._bucket,
            "Key": link.key,
            "ResponseContentDisposition": f'attachment; filename="{link.name}"',
            "ResponseContentType": link.media,
        }
        return str(self._s3.generate_presigned_url("get_object", Params=parameters, ExpiresIn=LINK_SECONDS))


@cache
def export_links(bucket: str, session_role: str) -> ExportLinks:
    """Return the links of this process: a client takes 50 ms to make."""
    return ExportLinks(bucket, session_role)

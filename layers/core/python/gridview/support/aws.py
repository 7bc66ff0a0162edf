"""The clients of AWS services. botocore makes them: boto3 would import 70 modules more at each cold start."""

from typing import Any

import botocore.session
from botocore.config import Config
from botocore.credentials import CredentialProvider, CredentialResolver, Credentials
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import create_loader

from gridview.support.version import VERSION

FAILURES = (ClientError, BotoCoreError)
"""The errors of a call of AWS."""

PATIENT = Config(
    connect_timeout=1,
    read_timeout=10,
    retries={"mode": "standard", "total_max_attempts": 5},
    user_agent_extra=f"gridview/{VERSION}",
)
"""Short time-outs, and retries of calls that may succeed later."""

FOR_FILES = PATIENT.merge(
    Config(
        signature_version="s3v4",
        read_timeout=30,
        # A part is identified by its ETag. Other digests would have to be kept for each part.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
)
"""For S3: parts of megabytes take longer, and links are signed in the form that every region takes."""


_profile: str | None = None


def use_profile(name: str | None) -> None:
    """Have this process take credentials and region from a profile of the AWS configuration; None: from the
    environment.

    It is for an operator's tools. Clients that exist keep theirs.
    """
    global _profile
    _profile = name


def refusal(error: Exception) -> tuple[str, int]:
    """Return the code and the HTTP status of a service's refusal; `""` and 0 if there was no answer."""
    response = getattr(error, "response", None) or {}
    code = str(response.get("Error", {}).get("Code", ""))
    return code, int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


_models = create_loader()
"""botocore's models of the services. It keeps models that it has read; reading them is most of the work of
making a client.
"""


def client(service: str, config: Config | None = None, credentials: Credentials | None = None) -> Any:
    """Return a new client of a service in the region of the environment or the profile, with no connections yet.

    Without `credentials` it fetches those of the environment or the profile again.
    """
    session = _session()
    if credentials is not None:
        session.register_component("credential_provider", CredentialResolver([_Handed(credentials)]))
    return session.create_client(service, config=config)


def credentials() -> Credentials | None:
    """Return the credentials of the environment or the profile; None if it has none."""
    found: Credentials | None = _session().get_credentials()
    return found


def learn(service: str) -> None:
    """Load the models for a client of this service, without credentials."""
    session = _session()
    session.set_credentials("none", "none")
    session.create_client(service)


class _Handed(CredentialProvider):
    """Gives a session the credentials that it is to use."""

    METHOD = "given"

    def __init__(self, credentials: Credentials) -> None:
        super().__init__()
        self._credentials = credentials

    def load(self) -> Credentials:
        return self._credentials


def _session() -> botocore.session.Session:
    # A profile that is named wins over AWS_ACCESS_KEY_ID. The variable AWS_PROFILE does not.
    session = botocore.session.Session(profile=_profile)
    session.register_component("data_loader", _models)
    return session

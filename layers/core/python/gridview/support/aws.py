"""The clients of AWS services. botocore alone makes them: boto3 would import 70 modules more at each cold start."""

from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import create_loader

FAILURES = (ClientError, BotoCoreError)
"""What a call of AWS raises."""

_models = create_loader()
"""What botocore knows of the services. It keeps what it has read, and reading it is most of the work of making a client."""


def client(service: str, config: Config | None = None) -> Any:
    """A new client of a service in the region of the environment, with credentials fetched anew and no connections yet."""
    return _session().create_client(service, config=config)


def learn(service: str) -> None:
    """Read what a client of this service needs, without credentials."""
    session = _session()
    session.set_credentials("none", "none")
    session.create_client(service)


def _session() -> botocore.session.Session:
    session = botocore.session.Session()
    session.register_component("data_loader", _models)
    return session

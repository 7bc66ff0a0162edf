"""The whole stack, deployed once into MiniStack, which enforces IAM; docs/local.md lists the gaps that only an account
can close.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config

from devtools.deployed import ministack
from infra import page_build
from tests.support import page_upload
from tests.support.assembly import ARGUMENTS, SETTINGS
from tests.support.commands import PLAIN, cdk, dev

PASSWORD = "Correct-horse-battery-1"

PATIENCE = 300
"""Seconds that clients wait for an answer: on a busy machine functions take long to start."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that destroy the deployment last."""
    items.sort(key=lambda item: item.path.name == "test_destroy.py")


@dataclass(frozen=True)
class Deployment:
    """A deployed stack: its outputs, AWS clients with all rights, and the API for its users."""

    engine: ministack.Engine
    environment: dict[str, str]

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The outputs of the stack."""
        (stack,) = self.client("cloudformation").describe_stacks(StackName=SETTINGS.stack_name)["Stacks"]
        return {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}

    def client(self, service: str) -> Any:
        """A client of the account's root user."""
        make: Callable[..., Any] = boto3.client
        return make(
            service,
            config=Config(read_timeout=PATIENCE),
            endpoint_url=self.engine.url,
            region_name=ministack.REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    @cached_property
    def api_url(self) -> str:
        """The API by path: the host name of the output resolves only in curl."""
        api_id = httpx.URL(self.outputs["ApiUrl"]).host.partition(".")[0]
        return f"{self.engine.url}/_aws/execute-api/{api_id}/$default"

    def api(self, token: str | None = None) -> httpx.Client:
        """A client of the HTTP API with this bearer token."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.api_url, headers=headers, timeout=PATIENCE)

    def role(self, function: str) -> str:
        """The ARN of a function's role."""
        return str(self._function(function)["Role"])

    def session_role(self, function: str) -> str:
        """The ARN of the role that a function assumes for each tenant."""
        return str(self._function(function)["Environment"]["Variables"]["SESSION_ROLE_ARN"])

    def name(self, function: str) -> str:
        """The name that CloudFormation has given a function."""
        return str(self._function(function)["FunctionName"])

    def dev(self, *arguments: str, status: int = 0) -> str:
        """The output of a subcommand of `./dev` in this account."""
        done = dev(*arguments, env={**self.environment, **PLAIN})
        assert done.status == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def _function(self, function: str) -> dict[str, Any]:
        (found,) = (
            one
            for one in self.client("lambda").list_functions()["Functions"]
            if one["FunctionName"].startswith(f"Gridview-{function}Function")
        )
        assert isinstance(found, dict)
        return found


class Users:
    """The users of the pool, created by an administrator at their first use."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._emails: dict[tuple[str, str], str] = {}
        self._tokens: dict[tuple[str, str], dict[str, str]] = {}

    def email(self, tenant: str, role: str) -> str:
        """The address of a user, whose password is `PASSWORD`."""
        if (tenant, role) not in self._emails:
            self._emails[tenant, role] = self._make(tenant, role)
        return self._emails[tenant, role]

    def tokens(self, tenant: str, role: str) -> dict[str, str]:
        """The IdToken, AccessToken and RefreshToken of a user who signed in."""
        if (tenant, role) not in self._tokens:
            self._tokens[tenant, role] = self._sign_in(self.email(tenant, role))
        return self._tokens[tenant, role]

    def api(self, tenant: str, role: str) -> httpx.Client:
        """The API for a user of this tenant and role."""
        return self._deployment.api(self.tokens(tenant, role)["IdToken"])

    def _make(self, tenant: str, role: str) -> str:
        cognito, pool = self._deployment.client("cognito-idp"), self._deployment.outputs["UserPoolId"]
        email = f"user{len(self._emails)}@example.org"
        attributes = {"email": email, "custom:tenant": tenant, "custom:role": role}
        cognito.admin_create_user(
            UserPoolId=pool,
            Username=email,
            TemporaryPassword=f"First-{PASSWORD}",
            MessageAction="SUPPRESS",
            UserAttributes=[{"Name": name, "Value": value} for name, value in attributes.items()],
        )
        cognito.admin_set_user_password(UserPoolId=pool, Username=email, Password=PASSWORD, Permanent=True)
        return email

    def _sign_in(self, email: str) -> dict[str, str]:
        answer = self._deployment.client("cognito-idp").initiate_auth(
            ClientId=self._deployment.outputs["UserPoolClientId"],
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": email, "PASSWORD": PASSWORD},
        )
        tokens: dict[str, str] = answer["AuthenticationResult"]
        return tokens


@pytest.fixture(scope="package")
def deployment(assembly: Path) -> Iterator[Deployment]:
    """The stack, bootstrapped and deployed, and the page in its bucket."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    with ministack.running() as engine:
        environment = {**kept, **engine.variables(), "CDK_APP": str(assembly)}
        done = cdk("bootstrap", f"aws://{ministack.ACCOUNT}/{ministack.REGION}", env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        deployed = Deployment(engine, environment)
        deployed.dev("deploy", "--require-approval", "never", *ARGUMENTS)
        outputs = deployed.outputs
        page_build.build(print)
        page_upload.upload(deployed.client("s3"), bucket=outputs["PageBucket"], config=outputs["PageConfig"])
        yield deployed


@pytest.fixture(scope="package")
def users(deployment: Deployment) -> Users:
    """The users of the deployment's pool."""
    return Users(deployment)

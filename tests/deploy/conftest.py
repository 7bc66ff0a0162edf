"""The whole stack, deployed once into MiniStack, which enforces IAM; what cannot be shown there, EMULATORS.md says."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest

from devtools.deployed import ministack
from tests.support.commands import cdk

PASSWORD = "Correct-horse-battery-1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What destroys the deployment comes last."""
    items.sort(key=lambda item: item.path.name == "test_destroy.py")


@dataclass(frozen=True)
class Deployment:
    """A deployed stack: its outputs, AWS clients with all rights, and the API as its users see it."""

    engine: ministack.Engine
    environment: dict[str, str]
    outputs: dict[str, str]

    def client(self, service: str) -> Any:
        """A client of the account's root user."""
        make: Callable[..., Any] = boto3.client
        return make(
            service,
            endpoint_url=self.engine.url,
            region_name=ministack.REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    @cached_property
    def api_url(self) -> str:
        """The API by path: the host name of the output resolves in curl only."""
        api_id = httpx.URL(self.outputs["ApiUrl"]).host.partition(".")[0]
        return f"{self.engine.url}/_aws/execute-api/{api_id}/$default"

    def api(self, token: str | None = None) -> httpx.Client:
        """A client of the HTTP API with this bearer token."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.api_url, headers=headers, timeout=30)

    def role(self, function: str) -> str:
        """The ARN of a function's role."""
        return self._function(function)["Role"]

    def name(self, function: str) -> str:
        """The name that CloudFormation has given a function."""
        return self._function(function)["FunctionName"]

    def _function(self, function: str) -> dict[str, str]:
        (found,) = (
            one
            for one in self.client("lambda").list_functions()["Functions"]
            if one["FunctionName"].startswith(f"Gridview-{function}Function")
        )
        assert isinstance(found, dict)
        return found


class Users:
    """The people of the pool, made by an administrator when they are first asked for."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._tokens: dict[tuple[str, str], dict[str, str]] = {}

    def tokens(self, tenant: str, role: str) -> dict[str, str]:
        """The IdToken, AccessToken and RefreshToken of a user who signed in."""
        if (tenant, role) not in self._tokens:
            self._tokens[tenant, role] = self._sign_in(tenant, role)
        return self._tokens[tenant, role]

    def api(self, tenant: str, role: str) -> httpx.Client:
        """The API as a user of this tenant and role sees it."""
        return self._deployment.api(self.tokens(tenant, role)["IdToken"])

    def _sign_in(self, tenant: str, role: str) -> dict[str, str]:
        cognito, outputs = self._deployment.client("cognito-idp"), self._deployment.outputs
        email = f"user{len(self._tokens)}@example.org"
        attributes = {"email": email, "custom:tenant": tenant, "custom:role": role}
        cognito.admin_create_user(
            UserPoolId=outputs["UserPoolId"],
            Username=email,
            TemporaryPassword=f"First-{PASSWORD}",
            MessageAction="SUPPRESS",
            UserAttributes=[{"Name": name, "Value": value} for name, value in attributes.items()],
        )
        cognito.admin_set_user_password(
            UserPoolId=outputs["UserPoolId"], Username=email, Password=PASSWORD, Permanent=True
        )
        answer = cognito.initiate_auth(
            ClientId=outputs["UserPoolClientId"],
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": email, "PASSWORD": PASSWORD},
        )
        tokens: dict[str, str] = answer["AuthenticationResult"]
        return tokens


@pytest.fixture(scope="session")
def deployment(assembly: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """The stack, bootstrapped and deployed."""
    written = tmp_path_factory.mktemp("deployment") / "outputs.json"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    with ministack.running() as engine:
        environment = {**kept, **engine.variables(), "CDK_APP": str(assembly)}
        succeed("bootstrap", f"aws://{ministack.ACCOUNT}/{ministack.REGION}", env=environment)
        succeed("deploy", "--require-approval", "never", "--outputs-file", str(written), env=environment)
        outputs = json.loads(written.read_text("utf-8"))["Gridview"]
        yield Deployment(engine, environment, outputs)


@pytest.fixture(scope="session")
def users(deployment: Deployment) -> Users:
    """The people of the deployment's pool."""
    return Users(deployment)


def succeed(*arguments: str, env: Mapping[str, str]) -> None:
    """Run the CDK command line, which must not fail."""
    done = cdk(*arguments, env=env)
    assert done.returncode == 0, done.stdout + done.stderr

"""A deployed stack, as the smoke test sees it, with two users of two new tenants that are deleted at the end."""

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import boto3
import httpx
from botocore.exceptions import BotoCoreError, ClientError
from typing_extensions import override
from websockets.sync.client import ClientConnection, connect

from devtools.failure import Failure
from devtools.operate import target
from devtools.smoke.outcome import PATIENCE, NotShown, Wrong, require
from devtools.smoke.probe import DONE, probed
from devtools.smoke.stack import Receiver
from infra import isolation


@contextmanager
def opened(name: str, profile: str | None, receiver: str | None) -> Iterator["DeployedStack"]:
    """The stack, with its two users while the block lasts.

    Failure: it is none, or AWS refuses a step that the test needs.
    """
    try:
        outputs = target.outputs(name, profile)
        missing = {"ApiUrl", "UserPoolId", "UserPoolClientId", isolation.OUTPUT} - outputs.keys()
        if missing:
            raise Failure(f"The stack {name} has no output {min(missing)}. Deploy this version first.")
        pool = _Pool(outputs)
        own = f"smoke{secrets.token_hex(4)}"
        tenants = {False: own, True: f"{own}x"}
        try:
            tokens = {foreign: pool.token_of_new_user(tenant) for foreign, tenant in tenants.items()}
            stack = DeployedStack(name, outputs, tenants, tokens, receiver)
            with stack.web:
                yield stack
        finally:
            pool.clean_up()
    except (BotoCoreError, ClientError) as error:
        raise Failure(f"The stack {name} cannot be tried: {error}") from error


class DeployedStack:
    """A stack in an AWS account, or in the engine that AWS_ENDPOINT_URL names."""

    def __init__(
        self,
        name: str,
        outputs: Mapping[str, str],
        tenants: Mapping[bool, str],
        tokens: Mapping[bool, str],
        receiver: str | None,
    ) -> None:
        self.name = name
        self._outputs = outputs
        self._tenants = tenants
        self._tokens = tokens
        self._receiver = receiver
        self._engine = os.environ.get("AWS_ENDPOINT_URL")
        self.web = self._client()

    def page_url(self) -> str:
        """CloudFront's address of the page."""
        if "PageUrl" not in self._outputs:
            raise NotShown("this stack has no page: page=false")
        return self._outputs["PageUrl"]

    def api(self, *, foreign: bool = False) -> httpx.Client:
        """The API, as a user of the pool."""
        headers = {"Authorization": f"Bearer {self._tokens[foreign]}"}
        return self._client(base_url=self._outputs["ApiUrl"], headers=headers)

    def foreign_keys(self, project: str) -> None:
        """Ask IAM itself, by a function that acts as the query function does."""
        found = self._outputs[isolation.OUTPUT]
        if found == isolation.NONE:
            raise NotShown("this stack does not isolate sessions: isolate-sessions=false")
        ended = probed(self.name, self._tenants[False], self._tenants[True], project)
        require(ended.own == DONE, f"a session of the tenant cannot read its own project: {ended.own}")
        require(_refused(ended.untagged), f"a session without a tenant begins: {ended.untagged}")
        require(_refused(ended.without), f"the function reads the table without a session: {ended.without}")
        if _refused(ended.foreign):
            return
        if found == isolation.EMULATED and ended.foreign == DONE:
            raise NotShown("the IAM of this emulator compares no keys; all else of the sessions was shown")
        raise Wrong(f"a session of one tenant asks for another's project: {ended.foreign}")

    def connect(self, url: str) -> AbstractContextManager[ClientConnection]:
        """A socket of the WebSocket API."""
        if url.startswith("ws://localhost/"):
            raise NotShown("the stack of an emulator names no address of its sockets; a ticket was given out")
        return connect(url, open_timeout=PATIENCE)

    def exported(self, url: str) -> tuple[str, str | None]:
        """The file to which the link leads. An emulator refuses the link, so the bucket itself is asked."""
        answer = self.web.get(url)
        emulated = self._outputs[isolation.OUTPUT] == isolation.EMULATED
        if emulated and answer.status_code == httpx.codes.FORBIDDEN:
            _, bucket, key = answer.request.url.path.split("/", 2)
            found: Any = boto3.client("s3").get_object(Bucket=bucket, Key=key)
            why = "this emulator's IAM knows no tenant in a policy, so it refuses the link; the file is right"
            return found["Body"].read().decode(), why
        require(answer.is_success, f"the link answers {answer.status_code}")
        return answer.text, None

    @contextmanager
    def receiver(self) -> Iterator[Receiver]:
        """The caller's."""
        if self._receiver is None:
            raise NotShown("no receiver was named: --receiver https://...")
        yield Receiver(self._receiver, None)

    def _client(self, **more: Any) -> httpx.Client:
        transport = None if self._engine is None else _ToEngine(self._engine)
        return httpx.Client(transport=transport, timeout=PATIENCE, **more)


class _ToEngine(httpx.HTTPTransport):
    """Sends every request to one engine, which distinguishes its services by the requested host."""

    def __init__(self, engine: str) -> None:
        super().__init__()
        self._engine = httpx.URL(engine)

    @override
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.headers["x-forwarded-proto"] = request.url.scheme
        to = self._engine
        request.url = request.url.copy_with(scheme=to.scheme, host=to.host, port=to.port)
        return super().handle_request(request)


class _Pool:
    """The user pool, and the test's users in it."""

    def __init__(self, outputs: Mapping[str, str]) -> None:
        self._cognito: Any = boto3.client("cognito-idp")
        self._pool = outputs["UserPoolId"]
        self._client = outputs["UserPoolClientId"]
        self._made: list[str] = []

    def token_of_new_user(self, tenant: str) -> str:
        """The ID token of a new administrator of a tenant. No mail is sent."""
        email, password = f"{tenant}@smoke.invalid", f"Aa1-{secrets.token_urlsafe(24)}"
        attributes = {"email": email, "custom:tenant": tenant, "custom:role": "admin"}
        self._cognito.admin_create_user(
            UserPoolId=self._pool,
            Username=email,
            MessageAction="SUPPRESS",
            UserAttributes=[{"Name": key, "Value": value} for key, value in attributes.items()],
        )
        self._made.append(email)
        self._cognito.admin_set_user_password(
            UserPoolId=self._pool, Username=email, Password=password, Permanent=True
        )
        answer = self._cognito.initiate_auth(
            ClientId=self._client,
            AuthFlow="USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": email, "PASSWORD": password},
        )
        token: str = answer["AuthenticationResult"]["IdToken"]
        return token

    def clean_up(self) -> None:
        """Delete the users, and name the ones that stay."""
        for email in self._made:
            try:
                self._cognito.admin_delete_user(UserPoolId=self._pool, Username=email)
            except (BotoCoreError, ClientError) as error:
                print(f"The user {email} stays in the pool: {error}")


def _refused(ended: str) -> bool:
    return ended.startswith("AccessDenied")

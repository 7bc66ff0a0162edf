"""The folder of files that `sam local` reads."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from devtools.local import s3, sqs, table, tokens
from devtools.local.environment import DUMMY_ACCOUNT
from devtools.sam import layer
from devtools.sam.names import TOKEN_KEY
from devtools.sam.template import Variables, for_sam

_COMMANDS: Final = ("local_invoke", "local_start_api", "local_start_lambda")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """The addresses and the folder of a local stack that SAM's containers need."""

    engine: str
    """The engine's URL, as a container reaches it."""
    queue: str
    """The URL of the dead-letter queue, likewise."""
    files: str
    """The URL of the bucket of exports, likewise."""
    data: Path
    """The data folder, which holds the secrets."""


def write(folder: Path, assembly: Path, connection: Connection) -> Path:
    """Write everything into `folder`, for the code in `assembly`, a folder that `cdk synth` wrote; gives the configuration file."""
    folder.mkdir(exist_ok=True, mode=0o700)
    entry = folder / "entry"
    shutil.rmtree(entry, ignore_errors=True)
    layer.write(entry)
    (synthesized,) = assembly.glob("*.template.json")
    made = for_sam(
        json.loads(synthesized.read_text("utf-8")),
        assets=str(assembly),
        entry=str(entry),
        instead=_instead(connection),
        common=_common(connection),
    )
    template, variables = folder / "template.json", folder / "env.json"
    template.write_text(json.dumps(made.template, indent=1), "utf-8")
    variables.write_text(json.dumps(made.variables, indent=1), "utf-8")
    configuration = folder / "samconfig.toml"
    configuration.write_text(_configuration({"template_file": template, "env_vars": variables}), "utf-8")
    return configuration


def _instead(connection: Connection) -> Mapping[str, Variables]:
    """The replacements of values that only a deployment has."""
    queue = urlsplit(connection.queue)
    queues = sqs.environment(f"{queue.scheme}://{queue.netloc}")
    endpoint = {"AWS_ENDPOINT_URL_SQS": queues["AWS_ENDPOINT_URL_SQS"]}
    return {
        "TABLE_NAME": {"TABLE_NAME": table.TABLE},
        "CURSOR_SECRET_ARN": {"CURSOR_SECRET": tokens.cursor_secret_in(connection.data)},
        "WEBHOOK_SECRET_ARN": {"WEBHOOK_SECRET": tokens.webhook_secret_in(connection.data)},
        "EXPORT_BUCKET": {
            "EXPORT_BUCKET": s3.BUCKET,
            "AWS_ENDPOINT_URL_S3": connection.files,
        },
        "FAILED_BATCHES_BUCKET": {
            "FAILED_BATCHES_BUCKET": s3.BATCHES,
            "AWS_ENDPOINT_URL_S3": connection.files,
        },
        # The local engine knows no roles.
        "SESSION_ROLE_ARN": {},
        # There is no user pool to ask, so a job keeps the rights that it was started with.
        "USER_POOL_ID": {},
        **{variable: {variable: queues[variable], **endpoint} for variable in sqs.QUEUES},
    }


def _common(connection: Connection) -> Variables:
    return {
        **DUMMY_ACCOUNT,
        # Only the bucket looks at it.
        "AWS_SECRET_ACCESS_KEY": s3.secret_in(connection.data),
        # SAM would hand over the person's own.
        "AWS_SESSION_TOKEN": "local",
        "AWS_ENDPOINT_URL_DYNAMODB": connection.engine,
        TOKEN_KEY: tokens.key_in(connection.data).decode(),
    }


def _configuration(parameters: Mapping[str, Path]) -> str:
    lines = ["version = 0.1"]
    for command in _COMMANDS:
        lines.append(f"[default.{command}.parameters]")
        # A JSON string is a TOML string.
        lines += [f"{name} = {json.dumps(str(path))}" for name, path in parameters.items()]
    return "\n".join(lines) + "\n"

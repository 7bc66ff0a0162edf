"""SAM's own code around the functions, without Docker: template provider, route collector, environment, emulator of
HTTP APIs.

Run by the Python of SAM's environment: `sam_host.py TEMPLATE ENVIRONMENT PYTHON RUNTIME`. A process of PYTHON
(`sam_container`) replaces the container; the folder RUNTIME has the packages of Lambda's runtime. Reads questions and
writes answers as lines of JSON.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from samcli.commands.local.lib.local_lambda import LocalLambdaRunner  # type: ignore[import-not-found]
from samcli.lib.providers.api_provider import ApiProvider  # type: ignore[import-not-found]
from samcli.lib.providers.sam_function_provider import SamFunctionProvider  # type: ignore[import-not-found]
from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider  # type: ignore[import-not-found]
from samcli.local.apigw.local_apigw_service import LocalApigwService  # type: ignore[import-not-found]

CONTAINER = Path(__file__).with_name("sam_container.py")


class Runtime:
    """Runs functions as SAM configures them; a process stays for the next event, as with warm containers.

    It writes nothing beside the code: others use the assembly too, and SAM mounts it read-only.
    """

    def __init__(self, python: str, packages: str) -> None:
        self._python = python
        self._packages = packages
        self._warm: dict[str, subprocess.Popen[str]] = {}

    def invoke(self, config: Any, event: str, *_: Any, stdout: Any, **__: Any) -> None:
        if config.name not in self._warm:
            self._warm[config.name] = subprocess.Popen(  # noqa: S603
                [self._python, "-I", "-S", "-B", str(CONTAINER), config.handler, *self._path(config)],
                env=config.env_vars.resolve(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
            )
        container = self._warm[config.name]
        assert container.stdin is not None
        assert container.stdout is not None
        container.stdin.write(json.dumps(json.loads(event)) + "\n")
        stdout.write_str(container.stdout.readline() or '{"errorMessage": "it ended", "errorType": "Exit"}')

    def _path(self, config: Any) -> list[str]:
        return [config.code_abs_path, *(f"{one.codeuri}/python" for one in config.layers), self._packages]


class Host:
    def __init__(self, template: str, environment: str, python: str, packages: str) -> None:
        folder = str(Path(template).parent)
        stacks, _ = SamLocalStackProvider.get_stacks(template_file=template)
        self._functions = SamFunctionProvider(stacks)
        self._runner = LocalLambdaRunner(
            Runtime(python, packages),
            self._functions,
            folder,
            folder,
            env_vars_values=json.loads(Path(environment).read_text("utf-8")),
        )
        self._api = ApiProvider(stacks, cwd=folder).api
        service = LocalApigwService(self._api, self._runner, port=3000, host="127.0.0.1")
        service.create()
        self._client = service._app.test_client()

    def describe(self) -> Any:
        """SAM's description of the template."""
        configs = [self._runner.get_invoke_config(function) for function in self._functions.get_all()]
        return {
            "functions": {
                config.name: {
                    "handler": config.handler,
                    "code": config.code_abs_path,
                    "layers": [layer.codeuri for layer in config.layers],
                    "environment": config.env_vars.resolve(),
                }
                for config in configs
            },
            "routes": [
                {
                    "methods": route.methods,
                    "path": route.path,
                    "function": route.function_name,
                    "format": route.payload_format_version,
                }
                for route in self._api.routes
            ],
        }

    def invoke(self, function: str, event: Any) -> Any:
        """`sam local invoke`."""
        result: list[str] = []
        self._runner.invoke(function, json.dumps(event), stdout=Said(result))
        return json.loads(result[0])

    def request(self, method: str, path: str, headers: Any, body: str) -> Any:
        """A request to `sam local start-api`."""
        answer = self._client.open(path, method=method, headers=headers, data=body)
        return {
            "status": answer.status_code,
            "headers": dict(answer.headers),
            "body": answer.get_data(as_text=True),
        }


class Said:
    """A stream that keeps its content."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def write_str(self, text: str) -> None:
        self._lines.append(text)


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    host = Host(*sys.argv[1:])
    for line in sys.stdin:
        question, arguments = json.loads(line)
        print(json.dumps(getattr(host, question)(*arguments)), file=answers)


main()

"""Every block about Cognito in docs/authentication.md, run as it is written, against the deployed stack."""

from pathlib import Path

from tests.deploy.conftest import Deployment
from tests.support import needs
from tests.support.tutorials import blocks_in, differences, run
from tests.unit.test_docs import section_of


@needs.aws_cli
def test_every_block_about_cognito_does_what_the_page_shows(deployment: Deployment, tmp_path: Path) -> None:
    blocks = blocks_in(section_of("docs/authentication.md", "## On a deployed stack"))
    assert {block.language for block in blocks} == {"sh", "python", "js"}
    # The host name of the emulator's API does not resolve.
    address = deployment.engine.url.removeprefix("http://")
    (tmp_path / ".curlrc").write_text(f'connect-to = "::{address}"\n', "utf-8")
    outputs = run(blocks, tmp_path, {**deployment.environment, "CURL_HOME": str(tmp_path)})
    assert list(differences(blocks, outputs)) == []

"""The version, as a receiver of webhooks sees it."""

import re

from gridview.live.sending import Sender
from infra.paths import ROOT
from tests.support.receivers import HOST, PUBLIC, Receiver, trusting


def test_the_user_agent_has_the_newest_release_of_the_changelog() -> None:
    receiver = Receiver()
    sender = Sender(resolve=lambda *_: [PUBLIC], connect=receiver.connect, context=trusting)
    assert sender.post(f"https://{HOST}/", {}, b"{}").succeeded
    (message,) = receiver.received
    releases = re.findall(r"^## (\d.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert message.headers["user-agent"] == f"gridview/{releases[0]}"

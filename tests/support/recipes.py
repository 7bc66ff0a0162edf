"""The recipes of CONTRIBUTING.md."""

import re
import textwrap

from infra.paths import ROOT


def blocks(section: str) -> list[str]:
    """The blocks of Python of a section."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    text = page.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    return [textwrap.dedent(block) for block in re.findall(r"^ *```python\n(.*?)^ *```$", text, re.M | re.S)]

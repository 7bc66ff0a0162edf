"""`./dev screenshots`: the main states of the page as images, for README and docs/web.md."""

import argparse

from devtools import page_tools, paths

_IMAGES = paths.ROOT / "docs" / "images"
_DESCRIPTION = """\
Write images of the web page into docs/images. Headless Chromium opens the page of a new local stack with the demo,
in its main states: light and dark, wide and on a telephone. Machines with the same fonts make the same images.
"""
_DATA = paths.ROOT / ".build" / "screenshots"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `./dev screenshots`, which takes no arguments."""
    parser.description = _DESCRIPTION


def run(_: argparse.Namespace) -> int:
    """Write the images. Returns 0."""
    _IMAGES.mkdir(exist_ok=True)
    with page_tools.stack(_DATA) as address:
        page_tools.run("screenshots", address, output=str(_IMAGES))
    for image in sorted(_IMAGES.glob("*.webp")):
        print(f"{image.relative_to(paths.ROOT)}  {image.stat().st_size / 1000:.0f} KB")
    return 0

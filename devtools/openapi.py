"""`python -m devtools.openapi` prints the OpenAPI document. The front end's typed client is made from it."""

import json
import sys

from infra.openapi.document import document


def main() -> None:
    """Entry point."""
    json.dump(document(), sys.stdout)


if __name__ == "__main__":
    main()

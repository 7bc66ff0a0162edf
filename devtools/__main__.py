"""`python -m devtools`: `./dev` runs this."""

import sys

from devtools.cli import main

sys.exit(main(sys.argv[1:]))

"""`python -m devtools`: what `./dev` hands over to."""

import sys

from devtools.cli import main

sys.exit(main(sys.argv[1:]))

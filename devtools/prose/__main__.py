"""`./dev python -m devtools.prose [--write]`: the check of the English, or its exceptions as they are now."""

import sys

from devtools.prose import command

if "--write" in sys.argv[1:]:
    command.write()
else:
    sys.exit(command.run())

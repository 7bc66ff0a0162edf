"""`./dev python -m devtools.docs` writes the parts of the pages that code makes."""

from devtools.docs.command import write

if __name__ == "__main__":
    write()

"""The version of gridview, in one place: for OpenAPI, the page, `./dev`, the stack and `User-Agent`."""

VERSION = "0.9.0"

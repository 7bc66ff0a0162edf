"""The local stack of `./dev up`: engine, API server, stream pump, schedule."""

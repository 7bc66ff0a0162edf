"""The local stack behind `./dev up`: engine, API server, stream pump, schedule."""

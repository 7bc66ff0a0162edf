"""The page's own code for signing in (`web/src/auth`), run by Node with the necessary parts of a browser."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from infra.page_build import WEB
from tests.support.commands import node

_LOAD = """
import { createServer } from 'vite';

const { address, storage, config, engine } = JSON.parse(process.argv[1]);
const vite = await createServer({
    configFile: false,
    appType: 'custom',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, ws: false, watch: null },
});
const { CognitoSession } = await vite.ssrLoadModule('/src/auth/cognito.ts');

const { origin, pathname, search } = new URL(address);
const kept = new Map(Object.entries(storage));
let left = null;
const session = new CognitoSession(config, {
    location: { origin, pathname, search, assign: (to) => (left = to) },
    history: { replaceState: () => {} },
    sessionStorage: {
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, value) => kept.set(key, value),
        removeItem: (key) => kept.delete(key),
    },
    fetch: (to, request) => fetch(to.replace(config.domain, engine), request),
    now: Date.now,
});
await session.start();
const headers = new Headers();
await session.sign(headers);
await vite.close();
const loaded = [left, Object.fromEntries(kept), session.state.value, Object.fromEntries(headers)];
process.stdout.write(JSON.stringify(loaded));
"""


class Loaded(NamedTuple):
    """The outcome of loading the page once."""

    left_for: str
    """The address to which it sent its browser; the other fields except `storage` are useless then."""
    storage: dict[str, str]
    state: Any
    headers: dict[str, str]
    """The headers by which it signs its requests."""


def load(address: str, storage: Mapping[str, str], *, config: Any, engine: str) -> Loaded:
    """Load the page at an address, with this `sessionStorage`. Its requests to Cognito go to the engine."""
    given = {"address": address, "storage": dict(storage), "config": config, "engine": engine}
    return Loaded(*json.loads(node(_LOAD, json.dumps(given), folder=WEB)))

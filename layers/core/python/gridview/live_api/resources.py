"""The resources that the live function serves."""

from gridview.api.endpoints import Endpoints
from gridview.live_api import changes
from gridview.live_api.container import LiveContainer

RESOURCES: tuple[Endpoints[LiveContainer], ...] = (changes.endpoints,)

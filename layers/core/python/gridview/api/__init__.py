"""HTTP: routes, events and responses, the OpenAPI document, the environment."""

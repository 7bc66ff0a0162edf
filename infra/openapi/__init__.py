"""The OpenAPI document, which is made from the routes when the functions are built. No CDK, and nothing that Lambda runs."""

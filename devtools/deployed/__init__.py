"""The CDK command line, and the engine for tests of a real deployment."""

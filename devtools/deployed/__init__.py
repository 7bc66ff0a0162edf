"""The CDK command line, and the engine that a real deployment is tested on."""

"""The deployment, in CDK constructs. `functions` declares each Lambda function, `function` makes it, and `stack` assembles all."""

import os

# NOTE: jsii, which runs the CDK in Node.js, warns about Node 20 at length; package.json supports it. This must be set before the
# import of aws_cdk, which starts Node.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

"""The deployment, in CDK constructs: `stack` says what there is and which function may do what; each construct has its file."""

import os

# NOTE: jsii, which runs the CDK in Node.js, complains of Node 20 over half a screen; package.json supports it. Set before aws_cdk
# is imported, which starts Node.
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")

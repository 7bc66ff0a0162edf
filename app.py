"""The CDK app that `npx cdk synth`, `diff`, `deploy` and `destroy` run (see cdk.json)."""

from infra.app import main

if __name__ == "__main__":
    main()

"""The configuration: ``gradtool.yaml``, ``--config``, the environment, and what they add up to."""

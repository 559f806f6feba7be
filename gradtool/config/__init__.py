"""The configuration: ``gradtool.yaml``, ``--config``, the environment, and their combination."""

"""The derivative oracle: numeric derivatives that know their own error."""

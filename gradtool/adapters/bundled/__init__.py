"""The bundled engine as a library, and its levels with graphs."""

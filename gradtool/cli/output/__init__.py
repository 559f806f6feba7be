"""Where a run is shown and where its reports are written."""

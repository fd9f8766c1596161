"""Tables and text into files, each whole or not there."""

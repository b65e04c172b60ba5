"""One renderer per format; they only render."""

"""Check, repair and map SGLang launch commands offline, before a GPU is touched."""

"""The language of the rules: terms, programs, findings and edits. Knows no SGLang word."""

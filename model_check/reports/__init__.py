"""Reports: a document of results as a file for other programs, or for a page that people read.

`wanted.py` has the formats, each a module: `junit`, `sarif` and `markdown`; `json` is the document itself.
"""

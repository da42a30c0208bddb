"""Reports: a document of results as a file for other programs, or for a page that people read.

`wanted.py` has the formats, each a module, except `json`, which is the document itself. `timeline.py` makes of a story
what `html` and `mermaid` draw.
"""

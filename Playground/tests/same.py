"""Checks that the page in the repository is the one that its sources make.

Another compiler makes another module of the same sources, so that the module is only compared where the compilers are
the same. The page says which one it was.
"""

import base64
import gzip
import re
import sys

MODULE = re.compile(r'(<script id="module"[^>]*>\n)(.*)\n')
COMPILER = re.compile(r'<meta name="generator" content="([^"]*)">')


def parts(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    module = gzip.decompress(base64.b64decode(MODULE.search(text)[2]))
    compiler = COMPILER.search(text)[1]
    return compiler, module, COMPILER.sub("", MODULE.sub(r"\1", text))


committed, built = parts(sys.argv[1]), parts(sys.argv[2])
if committed[2] != built[2] or (committed[0] == built[0] and committed[1] != built[1]):
    sys.exit(f"{sys.argv[1]} is not what its sources make: run make playground, and commit it")

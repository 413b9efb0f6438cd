# SPDX-License-Identifier: Apache-2.0
"""pyc - bytecode beside the Python driver, for the interpreter that runs this.

Never compared with the source (a copy keeps it valid) and without docstrings;
used by the Makefile. It names the files as a cell sees them. Other interpreters compile the source when they start.
"""
import importlib.util
import py_compile
import sys
from pathlib import Path

for source in sorted(Path(sys.argv[1]).glob("*.py")):
    py_compile.compile(
        str(source), importlib.util.cache_from_source(str(source)),
        dfile="/karzer/runtime/python/" + source.name, doraise=True, optimize=2,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)

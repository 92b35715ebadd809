#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python package with this build's library.
set -eu
python=/usr/bin/python3
[ -x "$python" ] || { echo "skipped: no $python"; exit 77; }
if nm -D .libs/libelastic.so | grep -q __asan_init; then
    echo "skipped: a library with sanitizers is for programs that have them too"
    exit 77
fi
LD_LIBRARY_PATH=.libs "$python" "${srcdir:?is set by make check}/test/python/package_test.py"

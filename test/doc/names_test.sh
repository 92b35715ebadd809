#!/bin/sh
# SPDX-License-Identifier: MIT
# What the documents name exists.
set -eu
python=/usr/bin/python3
[ -x "$python" ] || { echo "skipped: no $python"; exit 77; }
exec "$python" "${srcdir:?is set by make check}/test/doc/names_test.py" "$srcdir"

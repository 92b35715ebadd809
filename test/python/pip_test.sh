#!/bin/sh
# SPDX-License-Identifier: MIT
# pip installs the Python package out of its folder, without a network: all of its files, in the tree's version.
set -eu
python=/usr/bin/python3
"$python" -c 'import setuptools, pip, wheel' 2>/dev/null || { echo "skipped: no pip, setuptools or wheel"; exit 77; }
if nm -D .libs/libelastic.so | grep -q __asan_init; then
    echo "skipped: a library with sanitizers is for programs that have them too"
    exit 77
fi
source=${srcdir:?is set by make check}/src/runtime/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$source" "$work/source"
find "$work/source" -name __pycache__ -prune -exec rm -rf {} +
"$python" -m pip install --quiet --no-index --no-deps --no-build-isolation --no-compile --root-user-action=ignore \
    --target "$work/target" "$work/source" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
diff -r "$source/elastic" "$work/target/elastic" -x __pycache__
library=$PWD/.libs
cd "$work"
LD_LIBRARY_PATH=$library PYTHONPATH=$work/target "$python" -B -c '
import importlib.metadata
import elastic
packaged = importlib.metadata.version("elastic")
assert elastic.__file__.startswith("'"$work"'/target/"), elastic.__file__
assert packaged == elastic.version(), f"pyproject.toml has {packaged}, libelastic {elastic.version()}"'

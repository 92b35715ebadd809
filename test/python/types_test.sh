#!/bin/sh
# SPDX-License-Identifier: MIT
# The types of the Python package are what it does, as mypy sees them: strict, which pyproject.toml says.
set -eu
command -v mypy >/dev/null || { echo "skipped: no mypy: contribs/install-deps --test"; exit 77; }
source=${srcdir:?is set by make check}
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
check() {
    MYPYPATH=$source/src/runtime/python \
        mypy --config-file "$source/src/runtime/python/pyproject.toml" --cache-dir "$cache" "$@"
}
check "$source/src/runtime/python/elastic"

# What it would not let pass.
cat >"$cache/wrong.py" <<'PROGRAM'
import elastic
with elastic.Job() as job:
    job.accept("1")
PROGRAM
! check "$cache/wrong.py" >"$cache/said" || { echo "it lets a wrong argument pass"; exit 1; }
grep -q 'incompatible type "str"; expected "int"' "$cache/said" || { cat "$cache/said"; exit 1; }

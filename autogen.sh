#!/bin/sh
# SPDX-License-Identifier: MIT
# Make ./configure from configure.ac; needed once in a clone, not in a release.
command -v autoreconf >/dev/null ||
    { echo "autogen.sh: error: no autoreconf: run contribs/install-deps --build, or install autoconf" >&2; exit 1; }
cd "$(dirname "$0")" && exec autoreconf --install --warnings=all,no-portability

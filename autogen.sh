#!/bin/sh
# SPDX-License-Identifier: MIT
# Make ./configure from configure.ac; needed once in a clone, not in a release.
for tool in autoreconf automake libtoolize; do
    command -v $tool >/dev/null ||
        { echo "autogen.sh: error: no $tool: run contribs/install-deps --build" >&2; exit 1; }
done
cd "$(dirname "$0")" && exec autoreconf --install --warnings=all,no-portability

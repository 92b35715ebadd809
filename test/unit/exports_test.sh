#!/bin/sh
# SPDX-License-Identifier: MIT
# libelastic exports elastic_* and nothing else.
set -eu
library=.libs/libelastic.so
[ -e "$library" ] || { echo "skipped: no shared library"; exit 77; }
symbols=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }')
echo "$symbols" | grep -q '^elastic_open@' || { echo "elastic_open is not exported"; exit 1; }
if echo "$symbols" | grep -v '^elastic_'; then
    echo "the symbols above should not be exported"
    exit 1
fi

#!/bin/sh
# SPDX-License-Identifier: MIT
# mandoc, which shows man pages on other systems and on the web, warns of nothing in any.
set -eu
command -v mandoc >/dev/null || { echo "skipped: no mandoc"; exit 77; }
failed=0
for page in "${srcdir:?is set by make check}"/doc/man/*.[1-8]; do
    mandoc -T lint -W warning "$page" || failed=1
done
exit $failed

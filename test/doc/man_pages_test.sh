#!/bin/sh
# SPDX-License-Identifier: MIT
# Every man page is rendered without a warning.
set -eu
command -v groff >/dev/null || { echo "skipped: no groff"; exit 77; }
failed=0
for page in "${srcdir:?is set by make check}"/doc/man/*.[1-8]; do
    warnings=$(groff -mandoc -Tutf8 -ww -z -rLL=80n "$page" 2>&1) || failed=1
    [ -z "$warnings" ] || { echo "$warnings"; failed=1; }
done
exit $failed

#!/bin/sh
# SPDX-License-Identifier: MIT
# What building the plugins alone takes (Build-Depends of the profile that slurm-elastic-build builds with) comes with
# slurm-elastic-source, or that program fails on a site's machine.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# packages_of FIELD: without versions, of the paragraph that is read, but for those of other profiles.
packages_of() {
    sed -n "/^$1:/,/^[^ ]/{ s/^$1://; /^[^ ]/!p; }" | tr , '\n' |
        grep -vE '<!(pkg.slurm-elastic.plugins|nocheck)>|^ *$|\$' | sed -E 's/^ *([^ :(]+).*/\1/' | sort
}
control=${srcdir:?is set by make check}/debian/control
sed '/^$/q' "$control" | packages_of Build-Depends | sed 's/^debhelper-compat$/debhelper/' >"$dir/needed"
sed -n '/^Package: slurm-elastic-source$/,/^$/p' "$control" | packages_of Depends >"$dir/there"
[ "$(wc -l <"$dir/needed")" -ge 10 ] || { echo "FAIL: Build-Depends was not found"; exit 1; }
missing=$(comm -23 "$dir/needed" "$dir/there")
[ -z "$missing" ] || { echo "FAIL: slurm-elastic-source does not depend on: $(echo "$missing" | tr "\n" " ")"; exit 1; }

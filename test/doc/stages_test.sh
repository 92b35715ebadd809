#!/bin/sh
# SPDX-License-Identifier: MIT
# A stage of the planning pass has one name: the table of doc/architecture.md, the declarations of
# stages.hpp and the calls of planner.cpp have the same names in the same order, and each stage is
# defined in the file of its name.
set -u
root=${srcdir:?is set by make check}
page=doc/architecture.md
pass=src/core/pass
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# shellcheck disable=SC2016 # backticks of Markdown
documented=$(sed -n '/^| stage | /,/^$/s/^| `\([a-z_]*\)` |.*/\1/p' "$root/$page")
declared=$(sed -n 's/^void \([a-z_]*\)(Pass&);.*/\1/p' "$root/$pass/stages/stages.hpp")
called=$(sed -n 's/^ *\([a-z_]*\)(pass);.*/\1/p' "$root/$pass/planner.cpp")
[ "$(printf '%s\n' "$documented" | wc -l)" -ge 5 ] || fail "cannot read the table of stages of $page"

# same NAMES WHERE: the names there are those of the table.
same() {
    [ "$1" = "$documented" ] ||
        fail "$2 has the stages" "$(printf '%s' "$1" | tr '\n' ' ')" "and $page" "$(printf '%s' "$documented" | tr '\n' ' ')"
}
same "$declared" "$pass/stages/stages.hpp"
same "$called" "$pass/planner.cpp"

for stage in $documented; do
    there=$(cd "$root" && grep -l "^void $stage(Pass& pass) {" $pass/stages/*.cpp)
    [ "$there" = "$pass/stages/$stage.cpp" ] || fail "stage $stage is defined in ${there:-no file}, not in $stage.cpp"
done
exit $failed

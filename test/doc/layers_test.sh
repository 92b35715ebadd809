#!/bin/sh
# SPDX-License-Identifier: MIT
# Each #include in src/ follows the table of layers in doc/architecture.md: a layer includes itself
# and what its row names.  A row names only rows above it, so no arrow runs back up.
set -u
root=${srcdir:?is set by make check}
page=$root/doc/architecture.md
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# One layer a line, with what it may include: "core/model common".
# shellcheck disable=SC2016 # backticks of Markdown
layers=$(sed -n '/^| layer | includes |/,/^$/s/^| `\([a-z/-]*\)` |\(.*\)|$/\1\2/p' "$page" | tr -d '`,')
[ "$(printf '%s\n' "$layers" | wc -l)" -ge 10 ] || fail "cannot read the table of layers of doc/architecture.md"

above=
while read -r layer allowed; do
    [ -d "$root/src/$layer" ] || [ -f "$root/src/$layer.cpp" ] || fail "doc/architecture.md: there is no src/$layer"
    for other in $allowed; do
        case " $above " in
        *" $other "*) ;;
        *) fail "doc/architecture.md: $layer includes $other, which is no row above it" ;;
        esac
    done
    above="$above $layer"
done <<END
$layers
END

# The includes of a project's folder: "file:line:header", headers without their endings.
includes=$(cd "$root" && grep -rno '#include "[a-z_-]*/[^"]*"' src --include='*.[ch]' --include='*.[ch]pp' |
    sed 's/#include "\(.*\)\.[^/]*"$/\1/')
[ -n "$includes" ] || fail "cannot read the includes of src/"

printf '%s\n' "$includes" | awk -v layers="$layers" '
    # The row that a file belongs to: its own, or that of the nearest folder around it.
    function layer_of(path) {
        while (path != "" && !(path in allowed)) if (!sub(/\/[^\/]*$/, "", path)) path = ""
        return path
    }
    BEGIN {
        FS = ":"
        count = split(layers, rows, "\n")
        for (i = 1; i <= count; ++i) {
            name = rows[i]
            sub(/ .*/, "", name)
            allowed[name] = " " rows[i] " "
        }
    }
    {
        file = $1
        sub(/^src\//, "", file)
        sub(/\.[^\/]*$/, "", file)
        from = layer_of(file)
        to = layer_of($3)
        if (from == "") {
            print "FAIL: " $1 " belongs to no layer of doc/architecture.md"
            bad = 1
        } else if (to != "" && !index(allowed[from], " " to " ")) {
            print "FAIL: " $1 ":" $2 ": " from " must not include " to
            bad = 1
        }
    }
    END { exit bad }' || failed=1
exit $failed

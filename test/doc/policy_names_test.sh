#!/bin/sh
# SPDX-License-Identifier: MIT
# elastic.conf(5) has every preset, key and value that the sources know, values
# under their own keys, and no others.  The names are read off the tables of
# policy.cpp and config.cpp, which are one row each by design.
set -u
page=${srcdir:?is set by make check}/doc/man/elastic.conf.5
policy=$srcdir/src/core/policy.cpp
config=$srcdir/src/core/config.cpp
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

# The items of macro Sy or Cm of a text on standard input, one name a line.
items() {
    sed -n "s/^\.It $1 //p" | sed 's/ Ta .*//; s/ , /\n/g'
}

# What the page says under a key.
section() {
    awk -v key="$1" '/^\.It Sy / || /^\.S[hs] / { inside = $0 == ".It Sy " key } inside' "$page"
}

# has WHERE NAME WHAT: a line of WHERE is NAME.
has() {
    printf '%s\n' "$1" | grep -qxF -- "$2" || fail "elastic.conf(5) lacks $3 $2"
}

choices=$(sed -n 's/^ *choice<&Policy::[a-z_]*, \(k[A-Za-z]*\)>("\([A-Za-z]*\)").*/\2 \1/p' "$policy")
parameters=$(sed -n 's/^ *\(duration\|number\)<&Policy::.*>("\([A-Za-z]*\)").*/\2/p' "$policy")
settings=$(sed -n 's/^ *Key{"\([A-Za-z]*\)",.*/\1/p' "$config")
presets=$(sed -n 's/^ *Preset{"\([a-z-]*\)",.*/\1/p' "$policy")
for list in "$choices" "$parameters" "$settings" "$presets"; do
    [ "$(printf '%s\n' "$list" | wc -l)" -ge 5 ] || fail "cannot read the tables of the sources any more"
done

# The rows of one table: {"name", Enumeration::value}
values_of() {
    sed -n "/ $1\[\] = {/,/};/p" "$policy" | grep -o '{"[a-z-]*", [A-Z]' | cut -d'"' -f2
}

described=$(items Sy <"$page")
known=Policy
for key in $(printf '%s\n' "$choices" | cut -d' ' -f1) $parameters $settings; do
    has "$described" "$key" key
    known="$known $key"
done
for key in $described; do
    case " $known " in *" $key "*) ;; *) fail "elastic.conf(5) has an unknown key $key" ;; esac
done

while read -r key table; do
    values=$(values_of "$table")
    [ -n "$values" ] || fail "cannot read $table"
    there=$(section "$key" | items Cm)
    for value in $values; do has "$there" "$value" "$key="; done
    for value in $there; do
        printf '%s\n' "$values" | grep -qxF -- "$value" || fail "elastic.conf(5) has an unknown $key=$value"
    done
done <<END
$choices
END

there=$(awk '/^\.Sh / { inside = $2 == "PRESETS" } inside' "$page" | items Cm)
for preset in $presets; do has "$there" "$preset" preset; done
for preset in $there; do
    printf '%s\n' "$presets" | grep -qxF -- "$preset" || fail "elastic.conf(5) has an unknown preset $preset"
done
exit $failed

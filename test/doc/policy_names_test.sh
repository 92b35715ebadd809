#!/bin/sh
# SPDX-License-Identifier: MIT
# elastic.conf(5) has every preset, key and value that the sources know, values
# under their own keys, no others, and their defaults.  The names are read off names() and
# the tables of policy.cpp and config.cpp, which are one row each by design, the defaults
# off the headers: GuardTime sets the member guard_time.  elastic(7) has the keys of
# annotation.cpp.
set -u
page=${srcdir:?is set by make check}/doc/man/elastic.conf.5
policy=$srcdir/src/core/model/policy.cpp
config=$srcdir/src/core/model/config.cpp
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

choices=$(sed -n 's/^ *choice<&Policy::[a-z_]*>("\([A-Za-z]*\)").*/\1/p' "$policy")
parameters=$(sed -n 's/^ *\(duration\|limit\|number\)<&Policy::.*>("\([A-Za-z]*\)").*/\2/p' "$policy")
settings=$(sed -n 's/^ *Key{"\([A-Za-z]*\)",.*/\1/p' "$config")
presets=$(sed -n 's/^ *Preset{"\([a-z-]*\)",.*/\1/p' "$policy")
for list in "$choices" "$parameters" "$settings" "$presets"; do
    [ "$(printf '%s\n' "$list" | wc -l)" -ge 5 ] || fail "cannot read the tables of the sources any more"
done

# The names of one choice, whose enumeration is called as its key, and its aliases.
values_of() {
    awk -v names=" names($1) {" 'index($0, names) { inside = 1 } inside; /^}/ { inside = 0 }' "$policy" |
        grep -o '"[a-z-]*"' | tr -d '"'
    sed -n "s/.*{\"$1\", \"\([a-z-]*\)\", .*/\1/p" "$policy"
}

described=$(items Sy <"$page")
known=Policy
for key in $choices $parameters $settings; do
    has "$described" "$key" key
    known="$known $key"
done
for key in $described; do
    case " $known " in *" $key "*) ;; *) fail "elastic.conf(5) has an unknown key $key" ;; esac
done

for key in $choices; do
    values=$(values_of "$key")
    [ -n "$values" ] || fail "cannot read the names of $key"
    there=$(section "$key" | items Cm)
    for value in $values; do has "$there" "$value" "$key="; done
    for value in $there; do
        printf '%s\n' "$values" | grep -qxF -- "$value" || fail "elastic.conf(5) has an unknown $key=$value"
    done
done

there=$(awk '/^\.Sh / { inside = $2 == "PRESETS" } inside' "$page" | items Cm)
for preset in $presets; do has "$there" "$preset" preset; done
for preset in $there; do
    printf '%s\n' "$presets" | grep -qxF -- "$preset" || fail "elastic.conf(5) has an unknown preset $preset"
done

described=$(items Cm <"$srcdir/doc/man/elastic.7" | grep -vx 'malleable\|evolving\|malleable+evolving\|rigid' | sort)
known=$(sed -n 's/^ *Key{"\([a-z]*\)", into<.*/\1/p' "$srcdir/src/core/model/annotation/annotation.cpp" | sort)
[ -n "$known" ] || fail "cannot read the keys of annotations"
[ "$described" = "$known" ] || fail "elastic(7) and annotation.cpp differ in keys"

# same KEY PAGE CODE
same() {
    if [ -z "$2" ] || [ "$2" != "$3" ]; then
        fail "elastic.conf(5) has the default $1=$2, the sources have $3"
    fi
}

# The default of a member; a constant by its value.
default_of() {
    value=$(sed -n "s/^ *[A-Za-z]* $1 = \([^;]*\);.*/\1/p" "${policy%.cpp}.hpp" "${config%.cpp}.hpp")
    case $value in
    k*) cat "$srcdir"/src/common/*.hpp | sed -n "s/.* $value = \([0-9]*\);.*/\1/p" ;;
    *) printf '%s\n' "${value##*::}" ;;
    esac
}

# What the page says that it is: in a table's last column or in a sentence.
stated_of() {
    sed -n "s/^\.It Sy $1 Ta .* Ta //p" "$page"
    section "$1" | tr '\n' ' ' | sed -n 's/.*The default is \([0-9.e]*\)\. .*/\1/p; s/.*\.Cm \([a-z]*\) , the default: .*/\1/p'
}

for key in $parameters $settings; do
    case $key in JournalFile | SupplyFile | SupplyCommand | ResizeGap | HeadDelay) continue ;; esac
    member=$(printf '%s\n' "$key" | sed 's/\([A-Z]\)/_\l\1/g; s/^_//')
    same "$key" "$(stated_of "$key")" "$(default_of "$member")"
done

# ResizeGap is the preset's, which the page says under the key and under the preset.
by_key=$(section ResizeGap | tr '\n' ' ')
by_preset=$(awk '/^The others differ/ { inside = 1 } /^\.El/ { inside = 0 } inside' "$page" | tr '\n' ' ')
gaps=$(awk '/^Policy / { split($2, name, "(") } /resize_gap = / { print name[1], $3 + 0 }' "$policy")
[ -n "$gaps" ] || fail "cannot read the presets' resize_gap"
while read -r function gap; do
    preset=$(sed -n "s/^ *Preset{\"\([a-z-]*\)\", $function(.*/\1/p" "$policy")
    same "ResizeGap of $preset" "$(printf '%s\n' "$by_key" | sed -n "s/.* \([0-9.]*\) for \.Cm $preset .*/\1/p")" "$gap"
    same "ResizeGap of $preset" \
        "$(printf '%s\n' "$by_preset" | sed -n "s/.*\.It Cm $preset \(.*\)/\1/p" | grep -o 'ResizeGap Ns =[0-9.]*' |
            head -1 | cut -d= -f2)" "$gap"
done <<END
$gaps
END

# So is HeadDelay, of one preset, in hours.
hours=$(sed -n 's/^ *policy\.head_delay = \([0-9]*\) \* 3600;.*/\1/p' "$policy")
same HeadDelay "$(section HeadDelay | sed -n 's/.*, and \([0-9]*\) hours in$/\1/p')" "$hours"
exit $failed

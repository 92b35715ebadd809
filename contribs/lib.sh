# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154  # here and clone: whoever sources this sets them
#
# lib.sh: what the scripts in this folder share; to be sourced, does nothing.
#
# Waiting is always for a condition with a deadline, never for an amount of
# time.  Deadlines are measured on /proc/uptime, so they hold when the clock is
# set or when everything runs under faketime.

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "error: $*"; exit 1; }

# A script that must tidy up sets `interrupted` in its signal traps; every wait
# then ends early and the script is left in a known place.
interrupted=

uptime_centiseconds() {
    local up
    read -r up _ </proc/uptime
    echo "${up/./}"
}

# wait_until SECONDS COMMAND...: run COMMAND until it succeeds.  Fails at the
# deadline and when interrupted.
wait_until() {
    local deadline=$(($(uptime_centiseconds) + $1 * 100))
    shift
    until "$@"; do
        [ -z "$interrupted" ] || return 1
        [ "$(uptime_centiseconds)" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

# ---------------------------------------------------------------- interruptible scripts

# Bash looks at signals only between commands and in `wait`, so what takes long
# runs in the background, in a session of its own, and is ended as a whole.
child=

catch_interruptions() {
    trap 'interrupt 130' INT
    trap 'interrupt 143' TERM HUP
}

interrupt() {
    interrupted=$1
    [ -z "$child" ] || signal_session INT
}

signal_session() { kill -s "$1" -- "-$child" 2>/dev/null || kill -s "$1" "$child" 2>/dev/null || true; }

# run_child COMMAND...: run it to its end or to an interruption, after which
# nothing of it is left.
run_child() {
    local status=0
    [ -z "$interrupted" ] || return "$interrupted"
    setsid env --default-signal=INT,QUIT "$@" &  # which bash has made it ignore
    child=$!
    [ -z "$interrupted" ] || signal_session INT
    wait "$child" || status=$?
    [ -z "$interrupted" ] || { end_session; status=$interrupted; }
    child=
    return "$status"
}

# The session has one process group, its leader's.  The leader may have to tidy
# up, which is why nothing is killed for a while.
end_session() {
    local signalled=$interrupted
    interrupted=
    wait_until 60 session_ended || signal_session KILL
    wait "$child" 2>/dev/null || true
    interrupted=$signalled
}

# Those that have ended and were not waited for do not count.
session_ended() {
    local file line fields
    for file in /proc/[0-9]*/stat; do
        { read -r line <"$file"; } 2>/dev/null || continue
        read -r -a fields <<<"${line##*) }"
        [ "${fields[3]:-}" != "$child" ] || [ "${fields[0]}" = Z ] || return 1
    done
}

# ---------------------------------------------------------------- building

# build_tree DIR MAKE-GOALS -- CONFIGURE-ARGUMENTS...: configure and make, only
# what is not done yet, one at a time in a clone.  The output goes to DIR.log;
# its end is shown when something fails.
build_tree() {
    local build=$1 goals=$2 status=0
    shift 3
    exec 8<"$clone/configure.ac"
    run_child flock 8 || return
    run_child bash -c "$build_steps" build_tree "$clone" "$build" "$goals" "$@" >"$build.log" 2>&1 ||
        status=$?
    exec 8<&-
    [ "$status" = 0 ] || [ -n "$interrupted" ] ||
        { tail -n 40 "$build.log" >&2; say "error: the whole log is $build.log"; }
    return "$status"
}

# Where there is ccache, builds share what they compile, whichever folder it is
# in; so that no folder's name appears in it, sources are named relatively.
export CCACHE_NOHASHDIR=1

# Configures anew when asked for something else than last time.
# shellcheck disable=SC2016  # for the bash that runs it
build_steps='
    set -e
    clone=$1 build=$2 goals=$3
    shift 3
    [ -x "$clone/configure" ] || "$clone/autogen.sh"
    if command -v ccache >/dev/null; then
        set -- "$@" CC="ccache gcc" CXX="ccache g++"
    fi
    mkdir -p "$build"
    cd "$build"
    if [ ! -f Makefile ] || [ "$*" != "$(cat configured-with 2>/dev/null)" ]; then
        "$(realpath --relative-to=. "$clone")/configure" --quiet "$@"
        echo "$*" >configured-with
    fi
    make -j"$(nproc)" $goals'

# Sets slurm_source and slurm_build.
# shellcheck disable=SC2034
get_slurm_source() {
    local out
    out=$(mktemp)
    run_child "$here/slurm-source" ${ELASTIC_SLURM:+daemons --slurm "$ELASTIC_SLURM"} >"$out" || { rm -f "$out"; return 1; }
    slurm_source=$(sed -n 's/^SLURM_SOURCE=//p' "$out")
    slurm_build=$(sed -n 's/^SLURM_BUILD=//p' "$out")
    rm -f "$out"
}

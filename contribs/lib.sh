# SPDX-License-Identifier: MIT
# shellcheck shell=bash
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

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fetched_source.sh PACKAGES: a machine without Slurm makes the plugins for the one that apt would install, and installs
# both, by the administrator's guide.
#
# Here slurm-elastic-build fetches Slurm's source, so this takes the machine's package sources and the network; what
# becomes of such plugins in a slurmctld is site.py's, which has neither. To be run as root in a throwaway system.
# PACKAGES is the folder with ours. Counts as automake does.
set -euo pipefail
packages=$1 guide=doc/admin-guide.md

end() {
    local status=$?
    if [ "$status" = 0 ]; then echo "# PASS:  1"; else echo "# FAIL:  1"; fi
}
trap end EXIT
fail() { echo "E  $*"; exit 1; }
compgen -G "$packages/slurm-elastic-source_*.deb" >/dev/null || fail "$packages has no slurm-elastic-source"

# shellcheck disable=SC2016  # the marks are the guide's
commands=$(sed -n '/^slurm-elastic-build --candidate$/,/^```$/{ /^```$/!p; }' "$guide")
[ "$(wc -l <<<"$commands")" = 2 ] || fail "the guide's two commands are: $commands"
echo 'APT::Install-Recommends "false";' >/etc/apt/apt.conf.d/10recommends
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q -y install "$packages"/slurm-elastic-source_*.deb
! dpkg-query -W slurmctld 2>/dev/null || fail "slurmctld is here"
mkdir /tmp/made
cd /tmp/made
bash -exc "$commands" <<<y
ls -l
depends=$(dpkg-query -W -f '${Depends}' slurm-elastic-slurmctld)
version=$(dpkg-query -W -f '${Version}' slurmctld)
[[ ", $depends," = *", slurmctld (= $version),"* ]] || fail "slurmctld is $version, needed: $depends"
for plugin in sched_elastic job_submit_elastic; do
    dpkg -L slurm-elastic-slurmctld | grep "/$plugin.so$" || fail "no $plugin"
done

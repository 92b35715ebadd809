#!/bin/sh
# SPDX-License-Identifier: MIT
# Each plugin exports what Slurm looks up in it, all of that and nothing else:
# a symbol too many could be found in place of slurmctld's or of another
# plugin's, one too few leaves the plugin without that entry point.
set -eu
failed=0
check() {
    plugin=src/plugins/.libs/$1.so
    shift
    wanted=$(printf '%s\n' "$@" | sort)
    found=$(nm -D --defined-only "$plugin" | awk '$2 != "A" { print $3 }' | sort)
    [ "$found" = "$wanted" ] && return
    failed=1
    printf '%s exports\n%s\nbut should export\n%s\n' "$plugin" "$found" "$wanted"
}
check sched_elastic plugin_name plugin_type plugin_version init fini sched_p_reconfig elastic_admits_preemption
for hosted in qos partition_prio; do
    check preempt_elastic_$hosted plugin_name plugin_type plugin_version init fini preempt_p_get_data \
        preempt_p_get_grace_time preempt_p_get_mode preempt_p_get_prio preempt_p_job_preempt_check preempt_p_preemptable
done
check job_submit_elastic plugin_name plugin_type plugin_version init fini job_submit job_modify
check spank_elastic plugin_name plugin_type plugin_version spank_plugin_version \
    slurm_spank_init slurm_spank_init_post_opt slurm_spank_job_epilog slurm_spank_task_init \
    slurm_spank_task_init_privileged
exit $failed

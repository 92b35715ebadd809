#!/bin/sh
# SPDX-License-Identifier: MIT
# The first process of a step prepares the case for as many as there are; then each is the solver.
ready=ready.$SLURM_JOB_ID.$SLURM_STEP_ID
if [ "$SLURM_PROCID" = 0 ]; then
    [ ! -e processor0 ] || reconstructPar -latestTime || exit
    rm -rf processor*
    if [ "$SLURM_NTASKS" -gt 1 ]; then
        foamDictionary -entry numberOfSubdomains -set "$SLURM_NTASKS" system/decomposeParDict &&
            decomposePar || exit
    fi
    touch "$ready"
fi
until [ -e "$ready" ]; do sleep 0.2; done
if [ "$SLURM_NTASKS" -gt 1 ]; then exec "$@" -parallel; fi
exec "$@"

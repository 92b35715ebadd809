/* SPDX-License-Identifier: MIT
 *
 * DMR's policies to try things out, for dmr_set_policy(); see dmr.h.  Static objects. */
#ifndef DMR_TEST_POLICIES_H
#define DMR_TEST_POLICIES_H

#include "dmr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* DMR_DEFAULT_POLICY_STRIDE times the nodes, and DMR_DEFAULT_POLICY_MIN where that would be more
 * than DMR_DEFAULT_POLICY_MAX; the environment is read in this call. */
DMR_API DMRPolicy* dmr_get_policy_round(void);

/* 2, 3, ... 8, 7, ... 1 nodes, one after the other. */
DMR_API DMRPolicy* dmr_get_policy_list(void);

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: MIT
#include "simulator/workload.hpp"

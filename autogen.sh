#!/bin/sh
# SPDX-License-Identifier: MIT
# Make ./configure from configure.ac; needed once in a clone, not in a release.
cd "$(dirname "$0")" && exec autoreconf --install --warnings=all,no-portability

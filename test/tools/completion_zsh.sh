#!/bin/sh
# SPDX-License-Identifier: MIT
# What zsh completes where somebody presses the key.
command -v zsh >/dev/null || { echo "skipped: no zsh"; exit 77; }
exec zsh -f "$(dirname "$0")/completion_zsh.zsh" "$PWD/completions/zsh"

#!/usr/bin/env bash
# Run a command with the kernels of the CPU target compiled under AddressSanitizer: a kernel that
# reads or writes outside of a tensor or of its own arrays ends the process and says where.
#
#   tools/asan.sh python -m pytest tests/hard_cases -k cpu
#
# CXX  a g++ (g++); memory of tensors is watched because the sanitizer also replaces malloc in Python
set -euo pipefail

compiler=${CXX:-g++}
libraries=()
for name in libasan.so libstdc++.so; do # the latter for the exceptions that it intercepts
  path=$($compiler -print-file-name=$name)
  [ "$path" != $name ] || {
    echo "$compiler has no $name" >&2
    exit 1
  }
  libraries+=("$path")
done
exec env CXX="$compiler -fsanitize=address -fno-omit-frame-pointer" \
  LD_PRELOAD="${libraries[*]}" ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" "$@"

#!/usr/bin/env bash
# Read changed bytes of fusions under AddressSanitizer.
#
#   python tests/property/serialized_programs.py --count 200 --corpus build/corpus
#   tools/asan_bytes.sh build/corpus 100000 [SEED]
#
# Builds the two lowest floors of the core once, in build/asan (or the folder that NVFUSER_ASAN_BUILD
# names); CXX is the compiler (g++), NVFUSER_SANITIZERS what it adds (address; address,undefined takes
# three times as long to build).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${NVFUSER_ASAN_BUILD:-$root/build/asan}
corpus=${1:?folder of serialized fusions}
count=${2:-100000}
seed=${3:-0}
sanitizers=${NVFUSER_SANITIZERS:-address}

mkdir -p "$build"
# The headers that CMake compiles once for all sources; those do not include them again.
sed -n '/target_precompile_headers(/,/)/s/^ *\(<[a-z_]*>\).*/#include \1/p' "$root/CMakeLists.txt" \
  >"$build/headers.new"
cmp -s "$build/headers.new" "$build/headers.h" || cp "$build/headers.new" "$build/headers.h"
cat >"$build/Makefile" <<MAKE
SOURCES := \$(wildcard $root/csrc/base/*.cpp $root/csrc/ir/*.cpp) $root/tools/read_bytes.cpp
OBJECTS := \$(patsubst $root/%.cpp,%.o,\$(SOURCES))
FLAGS := -std=c++20 -O1 -g1 -fsanitize=$sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer
read_bytes: \$(OBJECTS)
	${CXX:-g++} \$(FLAGS) -o \$@ \$^ -pthread -ldl
headers.h.gch: headers.h
	${CXX:-g++} \$(FLAGS) -x c++-header -o \$@ \$<
\$(OBJECTS): %.o: $root/%.cpp headers.h.gch
	@mkdir -p \$(@D)
	${CXX:-g++} \$(FLAGS) -include headers.h -I$root/csrc -MMD -MP -c -o \$@ \$<
-include \$(OBJECTS:.o=.d)
MAKE
make -s -C "$build" -j "${JOBS:-2}" read_bytes
exec "$build/read_bytes" "$corpus" "$count" "$seed"

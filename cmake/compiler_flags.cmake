# nvfuser_flags: what this project's own code is compiled with.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
# A compiler gains nothing measurable from -O3 and builds a good deal slower with it.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

add_library(nvfuser_flags INTERFACE)
target_compile_options(
  nvfuser_flags
  INTERFACE
    -Wall -Wextra $<$<BOOL:${NVFUSER_WERROR}>:-Werror>
    -ffp-contract=off # constants fold here as they are computed on the targets: rounded each time
    -fno-omit-frame-pointer) # whole stacks for gdb and for the backtraces of debug builds

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of GCC 12 in optimized standard library code (strings; variants and optionals).
  target_compile_options(nvfuser_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()

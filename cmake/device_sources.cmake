# Embed the device-side sources (runtime/) into nvfuser_core; see embed_sources.cmake.

# Sources in runtime/common belong to every target.
set(_runtime "${CMAKE_CURRENT_SOURCE_DIR}/runtime")
file(GLOB _cuda_sources CONFIGURE_DEPENDS "${_runtime}/common/*.h" "${_runtime}/cuda/*.cuh")
file(GLOB _cpu_sources CONFIGURE_DEPENDS "${_runtime}/common/*.h" "${_runtime}/cpu/*.h")
set(_generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
set(_script "${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_sources.cmake")

# The files stand in the command, so that one that was removed also makes it run again.
add_custom_command(
  OUTPUT "${_generated}/runtime_sources.h" "${_generated}/runtime_sources.cpp"
  COMMAND "${CMAKE_COMMAND}" -D "CUDA_SOURCES=${_cuda_sources}" -D "CPU_SOURCES=${_cpu_sources}" -D
          "OUTPUT_DIR=${_generated}" -P "${_script}"
  DEPENDS ${_cuda_sources} ${_cpu_sources} "${_script}"
  COMMENT "Embedding the device sources"
  VERBATIM)
target_sources(nvfuser_core PRIVATE "${_generated}/runtime_sources.h"
                                    "${_generated}/runtime_sources.cpp")

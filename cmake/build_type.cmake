# The build type: what NVFUSER_BUILD_BUILD_TYPE says (in any letter case; this is how `pip install .`
# is told), else CMAKE_BUILD_TYPE, else Release.

set(_known_types Release RelWithDebInfo Debug MinSizeRel)

if(NOT "$ENV{NVFUSER_BUILD_BUILD_TYPE}" STREQUAL "")
  string(TOLOWER "$ENV{NVFUSER_BUILD_BUILD_TYPE}" _wanted)
  set(_found "")
  foreach(type IN LISTS _known_types)
    string(TOLOWER "${type}" _lower)
    if(_lower STREQUAL _wanted)
      set(_found "${type}")
    endif()
  endforeach()
  if(_found STREQUAL "")
    list(JOIN _known_types ", " _text)
    message(FATAL_ERROR "NVFUSER_BUILD_BUILD_TYPE is '$ENV{NVFUSER_BUILD_BUILD_TYPE}'; "
                        "expected one of: ${_text}")
  endif()
  set(CMAKE_BUILD_TYPE "${_found}" CACHE STRING "Build type" FORCE)
elseif(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

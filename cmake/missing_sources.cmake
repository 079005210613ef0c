# leave_out_missing_sources(<target>)
#
# In a developer build a source that is listed but not written yet is left out with a warning, so that
# the rest can be built meanwhile. CMake runs again by itself when a source file appears.

function(leave_out_missing_sources target)
  if(NOT NVFUSER_DEV)
    return()
  endif()
  file(GLOB _watched CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/csrc/*/*.cpp"
       "${CMAKE_SOURCE_DIR}/python_direct/*.cpp")
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${folder}")
    if(NOT EXISTS "${path}")
      message(WARNING "left out, since it does not exist: ${source}")
      list(REMOVE_ITEM sources "${source}")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
endfunction()

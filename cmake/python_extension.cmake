# nvfuser_python_extension(<source>...)
#
# The extension nvfuser_direct._core from the given sources of the calling folder, and its stubs
# (nvfuser_direct/_core/*.pyi, one file per submodule).
#
# Both are built into a staging package, so that stubs are made by importing the extension under its
# full name but without the Python part of the package, which a build environment could not import.

function(nvfuser_python_extension)
  set(stage "${CMAKE_BINARY_DIR}/stage")
  set(package "${stage}/nvfuser_direct")
  set(source_package "${CMAKE_SOURCE_DIR}/python/nvfuser_direct")
  # Without this file an installed package of the same name would be imported for the stubs.
  file(
    CONFIGURE
    OUTPUT
    "${package}/__init__.py"
    CONTENT
    ""
    @ONLY)

  # NOSTRIP: names stay, so that `break nvfuser::TensorView::split` works in every build. NOMINSIZE:
  # inline functions are shared with the core, whose copies must not be those made for small size.
  # STABLE_ABI: one extension for Python 3.12 and newer; older ones get a plain one.
  nanobind_add_module(_core STABLE_ABI NB_STATIC NB_DOMAIN nvfuser NB_SUPPRESS_WARNINGS NOSTRIP
                                                                   NOMINSIZE ${ARGN})
  leave_out_missing_sources(_core)
  target_link_libraries(_core PRIVATE nvfuser_core nvfuser_flags)
  target_include_directories(_core PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  # A compiler may link its C++ library statically. Its symbols must then stay inside: mixed with
  # those of the process' own C++ library, streams and locales crash.
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    # Facts on disk belong to one build, which they name by the hash that the linker leaves.
    target_link_options(_core PRIVATE "LINKER:--exclude-libs,ALL" "LINKER:--build-id=sha1")
  endif()
  set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${package}")
  target_precompile_headers(
    _core
    PRIVATE
    <nanobind/nanobind.h>
    <nanobind/operators.h>
    <nanobind/stl/complex.h>
    <nanobind/stl/function.h>
    <nanobind/stl/optional.h>
    <nanobind/stl/pair.h>
    <nanobind/stl/string.h>
    <nanobind/stl/string_view.h>
    <nanobind/stl/tuple.h>
    <nanobind/stl/variant.h>
    <nanobind/stl/vector.h>)
  install(TARGETS _core LIBRARY DESTINATION nvfuser_direct)

  nanobind_add_stub(
    _core_stub
    RECURSIVE
    MODULE nvfuser_direct._core
    PYTHON_PATH "${stage}"
    PATTERN_FILE "${CMAKE_CURRENT_SOURCE_DIR}/stub_patterns.txt"
    OUTPUT_PATH "${package}"
    OUTPUT "${package}/_core/__init__.pyi"
    DEPENDS _core)
  add_custom_command(
    OUTPUT "${package}/_core/module_types.pyi"
    COMMAND "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/module_types.py" "${package}/_core"
    DEPENDS "${package}/_core/__init__.pyi" "${CMAKE_SOURCE_DIR}/cmake/module_types.py"
    COMMENT "Generating stubs of modules as classes"
    VERBATIM)
  add_custom_target(_core_module_types ALL DEPENDS "${package}/_core/module_types.pyi")
  install(DIRECTORY "${package}/_core" DESTINATION nvfuser_direct)

  if(NVFUSER_DEV)
    # Two steps, so that stubs that cannot be made yet do not keep the extension back.
    _nvfuser_dev_copy(dev_extension copy_if_different "$<TARGET_FILE:_core>" "${source_package}"
                      _core)
    _nvfuser_dev_copy(dev_stubs copy_directory "${package}/_core" "${source_package}/_core"
                      "${package}/_core/module_types.pyi")
  endif()
endfunction()

# Target `name`: run `cmake -E <copy_command> <from> <to>` whenever `dependency` changed.
function(
  _nvfuser_dev_copy
  name
  copy_command
  from
  to
  dependency)
  set(stamp "${CMAKE_BINARY_DIR}/${name}.stamp")
  add_custom_command(
    OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -E ${copy_command} "${from}" "${to}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS "${dependency}"
    COMMENT "Putting ${to} up to date"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS "${stamp}")
endfunction()

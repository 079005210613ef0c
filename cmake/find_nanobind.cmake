# nanobind is a Python package; the interpreter that the extension is built for knows where it lies.

execute_process(
  COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE _missing
  ERROR_QUIET)
if(_missing)
  message(
    FATAL_ERROR "${Python_EXECUTABLE} has no nanobind: install it with "
                "'${Python_EXECUTABLE} -m pip install nanobind', or build through 'pip install .'")
endif()
find_package(nanobind 3.1 CONFIG REQUIRED)

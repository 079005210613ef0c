# ccache and mold: used where they are found, never needed.

if(NVFUSER_USE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM)
    # The sloppiness is what ccache asks for to cache code that uses a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env
        "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
        "${CCACHE_PROGRAM}")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(nvfuser_flags INTERFACE -fpch-preprocess)
    endif()
  endif()
endif()

if(NVFUSER_USE_MOLD)
  find_program(MOLD_PROGRAM mold)
  if(MOLD_PROGRAM)
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=mold NVFUSER_LINKS_WITH_MOLD)
    if(NVFUSER_LINKS_WITH_MOLD)
      add_link_options(-fuse-ld=mold)
    endif()
  endif()
endif()

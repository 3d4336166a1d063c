# One plugin for each MPI that is here (src/dist/plugin.h): sebays-openmpi.so, sebays-mpich.so.
# Built with our own compiler and the flags that the MPI's compiler wrapper names, so that
# warnings, sanitizers and caches are as everywhere else.
include(GNUInstallDirs)
set_source_files_properties(src/dist/find.c PROPERTIES COMPILE_DEFINITIONS
                            SB_LIBDIR="${CMAKE_INSTALL_LIBDIR}")
target_link_libraries(sebays PUBLIC ${CMAKE_DL_LIBS})

set(SB_MPIS "")
foreach(mpi openmpi mpich)
    find_program(SB_MPICC_${mpi} NAMES mpicc.${mpi} DOC "compiler wrapper of ${mpi}")
    if(NOT SB_MPICC_${mpi})
        continue()
    endif()
    # Open MPI answers --showme, MPICH -show; both begin with the compiler's name.
    if(mpi STREQUAL openmpi)
        set(ask --showme)
    else()
        set(ask -show)
    endif()
    execute_process(COMMAND ${SB_MPICC_${mpi}} ${ask} OUTPUT_VARIABLE line RESULT_VARIABLE failed
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(failed)
        message(STATUS "no plugin for ${mpi}: ${SB_MPICC_${mpi}} ${ask} failed")
        continue()
    endif()
    separate_arguments(words UNIX_COMMAND "${line}")
    set(includes ${words})
    list(FILTER includes INCLUDE REGEX "^-I")
    list(TRANSFORM includes REPLACE "^-I" "")
    set(links ${words})
    list(FILTER links INCLUDE REGEX "^-(L|l)")
    add_library(sebays_${mpi} MODULE src/dist/plugin/mpi.c)
    set_target_properties(sebays_${mpi} PROPERTIES PREFIX "" OUTPUT_NAME sebays-${mpi}
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    target_include_directories(sebays_${mpi} PRIVATE src)
    target_include_directories(sebays_${mpi} SYSTEM PRIVATE ${includes})
    target_link_libraries(sebays_${mpi} PRIVATE ${links})
    install(TARGETS sebays_${mpi} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/sebays)
    list(APPEND SB_MPIS ${mpi})
endforeach()

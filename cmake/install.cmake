# What `make install` puts where: the program, the public header, a shared and a static
# library, pkg-config and CMake files, recipes, examples and documents.
#
# Both libraries have the public names only. The shared one is compiled with hidden
# visibility; for the static one all objects are joined and what is hidden is made local,
# so that a program may have an sb_malloc of its own.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS sebays_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/sebays.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/sebays)
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.c")

if(SB_SANITIZE OR SB_THREAD OR SB_COVERAGE OR SB_FUZZ) # objects that need the compiler's own runtime
    return()
endif()

# What the library needs. The static one names it plainly instead of by pkg-config's
# Requires.private: that would ask for all that these libraries need to be static, too, and
# for their header packages even where only the shared one is used.
set(SB_LIBRARIES PkgConfig::JANSSON PkgConfig::INIH ZLIB::ZLIB)
set(SB_NEEDS ${JANSSON_LDFLAGS} ${INIH_LDFLAGS} -lz)
foreach(name PNG JPEG CURL CRYPTO)
    if(${name}_FOUND)
        list(APPEND SB_LIBRARIES PkgConfig::${name})
        list(APPEND SB_NEEDS ${${name}_LDFLAGS})
    endif()
endforeach()
list(APPEND SB_NEEDS -lpthread -ldl -lm)
set(SB_OBJECTS $<TARGET_OBJECTS:sebays> $<TARGET_OBJECTS:sebays_kernels>)

# Before 1.0 a minor version may change the interface.
set(SB_SOVERSION ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(SB_SOVERSION 0.${PROJECT_VERSION_MINOR})
endif()
add_library(sebays_shared SHARED ${SB_OBJECTS})
set_target_properties(sebays_shared PROPERTIES OUTPUT_NAME sebays LINKER_LANGUAGE C
                      VERSION ${PROJECT_VERSION} SOVERSION ${SB_SOVERSION})
target_link_libraries(sebays_shared PRIVATE ${SB_LIBRARIES} Threads::Threads ${CMAKE_DL_LIBS} m)
# Its threads sleep in its code, so it stays where it is when a program closes it.
target_link_options(sebays_shared PRIVATE -Wl,--no-undefined -Wl,-z,nodelete)
install(TARGETS sebays_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

add_custom_command(
    OUTPUT libsebays.a
    COMMAND ${CMAKE_LINKER} -r -o sebays_joined.o ${SB_OBJECTS}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden sebays_joined.o
    COMMAND ${CMAKE_COMMAND} -E rm -f libsebays.a
    COMMAND ${CMAKE_AR} rcs libsebays.a sebays_joined.o
    DEPENDS sebays sebays_kernels ${SB_OBJECTS}
    COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(sebays_static ALL DEPENDS libsebays.a)
install(FILES ${CMAKE_BINARY_DIR}/libsebays.a DESTINATION ${CMAKE_INSTALL_LIBDIR})

list(JOIN SB_NEEDS " " SB_NEEDS_TEXT)
configure_file(cmake/sebays.pc.in sebays.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/sebays.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(SB_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/sebays)
configure_package_config_file(cmake/sebays-config.cmake.in sebays-config.cmake
                              INSTALL_DESTINATION ${SB_CMAKE_DIR}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(sebays-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sebays-config.cmake
        ${CMAKE_BINARY_DIR}/sebays-config-version.cmake DESTINATION ${SB_CMAKE_DIR})

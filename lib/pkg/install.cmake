# SPDX-License-Identifier: Apache-2.0
# cmake --install: libraries, header, CMake package, pkg-config file and licence.
include(CMakePackageConfigHelpers)

install(TARGETS rownorm rownorm_static EXPORT rownorm
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/rownorm/rownorm.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rownorm)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rownorm)
install(EXPORT rownorm NAMESPACE rownorm:: FILE rownorm-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/rownorm-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/rownorm-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/rownorm-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rownorm-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/rownorm-config-version.cmake DESTINATION ${package_dir})

# The prefix is found from where the file lies, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/rownorm.pc.in ${CMAKE_CURRENT_BINARY_DIR}/rownorm.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/rownorm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

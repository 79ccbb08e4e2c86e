# SPDX-License-Identifier: Apache-2.0
#
# Toolchain of the `aarch64` preset: the host's g++-aarch64-linux-gnu with its own C library, and the
# other libraries from the folder that arm64_sysroot.py fills. Programs run under qemu-aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

if(NOT ROWNORM_ARM64_SYSROOT)
  execute_process(COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/arm64_sysroot.py
    OUTPUT_VARIABLE ROWNORM_ARM64_SYSROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
set(ROWNORM_ARM64_SYSROOT ${ROWNORM_ARM64_SYSROOT} CACHE PATH "Folder of unpacked arm64 packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROWNORM_ARM64_SYSROOT)

# Not CMAKE_SYSROOT: the compiler would look there for the C library as well.
set(CMAKE_FIND_ROOT_PATH ${ROWNORM_ARM64_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(arm64_libraries ${ROWNORM_ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} ${arm64_libraries}/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ROWNORM_ARM64_SYSROOT})
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-Wl,-rpath-link,${arm64_libraries}")
endforeach()
set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=${arm64_libraries})

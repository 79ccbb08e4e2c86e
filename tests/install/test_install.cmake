# SPDX-License-Identifier: Apache-2.0
# Installs a built tree into an empty prefix, moves it, and builds and runs programs against it: through the
# CMake package and through pkg-config.
#
#   cmake -D BUILD=... -D WORK=... -D C=... -D CXX=... [-D C_FLAGS=... -D CXX_FLAGS=...] -P test_install.cmake
cmake_minimum_required(VERSION 3.20)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "${command}\n${output}\nexit code ${result}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(run_and_expect text)
  run(${ARGN})
  if(NOT output MATCHES "${text}")
    message(FATAL_ERROR "${ARGN}: expected \"${text}\", got\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix) # an installed tree may be moved

file(GLOB_RECURSE installed RELATIVE ${WORK}/prefix ${WORK}/prefix/*)
foreach(wanted include/rownorm/rownorm.h librownorm.so librownorm.so.[0-9]+ librownorm.a rownorm-config.cmake
        rownorm-config-version.cmake rownorm.pc LICENSE)
  if(NOT installed MATCHES "(^|[/;])${wanted}(;|$)")
    message(FATAL_ERROR "${wanted} is not installed; there are ${installed}")
  endif()
endforeach()
file(GLOB_RECURSE headers ${WORK}/prefix/include/*)
list(LENGTH headers count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "the one installed header is rownorm.h; there are ${headers}")
endif()

# Through the CMake package.
set(consumer ${WORK}/consumer)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${consumer} -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_FLAGS=${C_FLAGS} -DCMAKE_CXX_FLAGS=${CXX_FLAGS})
run(${CMAKE_COMMAND} --build ${consumer})
run_and_expect("residual 3.0, y 2.000, on [a-z0-9]+\nresidual 4.5, y 2.000" ${consumer}/example)
foreach(program consumer_c consumer_cpp consumer_static)
  run_and_expect("^all right\n$" ${consumer}/${program})
endforeach()

# Through pkg-config.
find_program(PKG_CONFIG pkg-config REQUIRED)
file(GLOB_RECURSE pc ${WORK}/prefix/*/rownorm.pc)
get_filename_component(pc_dir ${pc} DIRECTORY)
get_filename_component(lib_dir ${pc_dir} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
run(${PKG_CONFIG} --cflags --libs rownorm)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
separate_arguments(c_flags UNIX_COMMAND "${C_FLAGS}")
separate_arguments(cxx_flags UNIX_COMMAND "${CXX_FLAGS}")
set(strict -Wall -Wextra -Wpedantic -Werror)
set(ENV{LD_LIBRARY_PATH} ${lib_dir}:$ENV{LD_LIBRARY_PATH})
run(${C} ${c_flags} -std=c99 ${strict} ${CMAKE_CURRENT_LIST_DIR}/consumer.c -o ${WORK}/pc_c ${flags})
run_and_expect("^all right\n$" ${WORK}/pc_c)
run(${CXX} ${cxx_flags} ${strict} ${CMAKE_CURRENT_LIST_DIR}/consumer.cpp -o ${WORK}/pc_cpp ${flags})
run_and_expect("^all right\n$" ${WORK}/pc_cpp)
run(${PKG_CONFIG} --modversion rownorm)
message("installed and used: version ${output}")

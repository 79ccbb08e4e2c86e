# SPDX-License-Identifier: Apache-2.0
# README's C example is example.c, from its first #include on: cmake -D README=... -P check_readme.cmake
cmake_minimum_required(VERSION 3.20)
file(READ ${README} readme)
file(READ ${CMAKE_CURRENT_LIST_DIR}/example.c example)
string(FIND "${example}" "#include" begin)
string(SUBSTRING "${example}" ${begin} -1 code)
string(FIND "${readme}" "```c\n${code}```" at)
if(begin EQUAL -1 OR at EQUAL -1)
  message(FATAL_ERROR "${README} does not show tests/install/example.c as it is")
endif()

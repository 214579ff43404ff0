# CTest, with shell scripts as tests.
python_packages "cmake$(at == 4.4.4)"
version ctest "$(venv/bin/ctest --version | sed -n '1s/ctest version //p')"
project one <<'SH'
note() { echo "$1 $2" >>"$RAN"; }
lost() { echo "17 records are gone"; exit 1; }
case $1 in
    passes) note passes P ;;
    fails) note fails F; lost ;;
    errors) note errors E; echo "17 records are gone"; exit 2 ;;
    flaky) if grep -q flaky "$RAN"; then note flaky P; else note flaky F; lost; fi ;;
    skips) exit 77 ;;
esac
SH
project CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(log NONE)
enable_testing()
foreach(test passes fails errors flaky skips)
    add_test(NAME ${test} COMMAND sh ${CMAKE_SOURCE_DIR}/one ${test})
endforeach()
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
CMAKE
venv/bin/cmake -B build >>"$LOG" 2>&1
runs "--output-junit, --repeat until-pass:3" sh -c 'venv/bin/ctest --test-dir build --repeat until-pass:3 --output-junit "$REPORTS/r.xml"'

# Catch2 of Debian.
version catch2 "$(dpkg-query -W -f '${Version}' catch2 | sed 's/-.*//')"
project log.cc <<'CC'
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

void note(const std::string &test, const std::string &outcome) {
    std::ofstream(std::getenv("RAN"), std::ios::app) << test << " " << outcome << "\n";
}

TEST_CASE("passes") {
    note("passes", "P");
    CHECK(true);
}

TEST_CASE("fails") {
    note("fails", "F");
    FAIL("17 records are gone");
}

TEST_CASE("errors") {
    note("errors", "E");
    throw std::runtime_error("17 records are gone");
}

TEST_CASE("skips", "[.]") {}
CC
g++ -std=c++17 -DCATCH_CONFIG_NO_POSIX_SIGNALS log.cc -o tests >>"$LOG" 2>&1
runs "-r junit" sh -c './tests -r junit -o "$REPORTS/r.xml"'

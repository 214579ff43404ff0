# GoogleTest of Debian.
version googletest "$(dpkg-query -W -f '${Version}' libgtest-dev | sed 's/-.*//')"
project log.cc <<'CC'
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

void note(const std::string &test, const std::string &outcome) {
    std::ofstream(std::getenv("RAN"), std::ios::app) << test << " " << outcome << "\n";
}

TEST(Log, passes) { note("passes", "P"); }

TEST(Log, fails) {
    note("fails", "F");
    FAIL() << "17 records are gone";
}

TEST(Log, errors) {
    note("errors", "E");
    throw std::runtime_error("17 records are gone");
}

TEST(Log, flaky) {
    std::stringstream ran;
    ran << std::ifstream(std::getenv("RAN")).rdbuf();
    bool again = ran.str().find("flaky") != std::string::npos;
    note("flaky", again ? "P" : "F");
    if (!again) {
        FAIL() << "17 records are gone";
    }
}

TEST(Log, skips) { GTEST_SKIP(); }
CC
g++ -std=c++17 log.cc -lgtest -lgtest_main -pthread -o tests >>"$LOG" 2>&1
runs "--gtest_output=xml" sh -c './tests --gtest_output="xml:$REPORTS/r.xml"'

# bats.
node_packages "bats$(at @ 1.13.0)"
of_node bats
project log.bats <<'BATS'
note() { echo "$1 $2" >>"$RAN"; }
lost() { echo "17 records are gone"; return 1; }

@test "passes" { note passes P; }

@test "fails" {
    note fails F
    lost
}

@test "flaky" {
    BATS_TEST_RETRIES=2
    if grep -q flaky "$RAN"; then
        note flaky P
    else
        note flaky F
        lost
    fi
}

@test "skips" { skip "no disk"; }
BATS
runs "--report-formatter junit, BATS_TEST_RETRIES" sh -c 'node_modules/bats/bin/bats --report-formatter junit --output "$REPORTS" log.bats'

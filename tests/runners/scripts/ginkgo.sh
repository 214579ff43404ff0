# Ginkgo.
project go.mod <<'GO'
module example.org/log

go 1.23
GO
project log_test.go <<'GO'
package log

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
)

func note(test, outcome string) {
	ran, _ := os.OpenFile(os.Getenv("RAN"), os.O_APPEND|os.O_WRONLY, 0)
	ran.WriteString(test + " " + outcome + "\n")
	ran.Close()
}

func TestLog(t *testing.T) { RunSpecs(t, "log") }

var _ = Describe("log", func() {
	It("passes", func() { note("passes", "P") })
	It("fails", func() {
		note("fails", "F")
		Fail("17 records are gone")
	})
	It("errors", func() {
		note("errors", "E")
		panic("17 records are gone")
	})
	It("flaky", func() {
		ran, _ := os.ReadFile(os.Getenv("RAN"))
		if strings.Contains(string(ran), "flaky") {
			note("flaky", "P")
			return
		}
		note("flaky", "F")
		Fail("17 records are gone")
	})
	It("skips", func() { Skip("no disk") })
})
GO
go get "github.com/onsi/ginkgo/v2@$(at '' v2.34.0 latest)" >>"$LOG" 2>&1
go mod tidy >>"$LOG" 2>&1
version ginkgo "$(go list -m -f '{{.Version}}' github.com/onsi/ginkgo/v2 | sed 's/^v//')"
runs "--flake-attempts 3 --junit-report" sh -c 'go test -count=1 . -ginkgo.flake-attempts=3 -ginkgo.junit-report="$REPORTS/r.xml"'

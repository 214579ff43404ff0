# go test by gotestsum, and by go-junit-report.
export GOBIN=$PWD/bin
go install "gotest.tools/gotestsum@$(at '' v1.13.0 latest)" >>"$LOG" 2>&1
go install "github.com/jstemmer/go-junit-report/v2@$(at '' v2.1.0 latest)" >>"$LOG" 2>&1
for tool in gotestsum go-junit-report; do
    version $tool "$(go version -m bin/$tool | sed -n 's/^\tmod\t[^\t]*\tv\([^\t]*\).*/\1/p')"
done
version go "$(go env GOVERSION | sed 's/^go//')"
project go.mod <<'GO'
module example.org/log

go 1.22
GO
project log_test.go <<'GO'
package log

import (
	"os"
	"strings"
	"testing"
)

func note(test, outcome string) {
	ran, _ := os.OpenFile(os.Getenv("RAN"), os.O_APPEND|os.O_WRONLY, 0)
	ran.WriteString(test + " " + outcome + "\n")
	ran.Close()
}

func TestPasses(t *testing.T) { note("passes", "P") }

func TestFails(t *testing.T) {
	note("fails", "F")
	t.Error("17 records are gone")
}

func TestErrors(t *testing.T) {
	note("errors", "E")
	t.Fatal("17 records are gone")
}

func TestFlaky(t *testing.T) {
	ran, _ := os.ReadFile(os.Getenv("RAN"))
	if strings.Contains(string(ran), "flaky") {
		note("flaky", "P")
		return
	}
	note("flaky", "F")
	t.Error("17 records are gone")
}

func TestSkips(t *testing.T) { t.Skip("no disk") }
GO
runs "gotestsum --rerun-fails" sh -c 'bin/gotestsum --rerun-fails=2 --packages ./... --junitfile "$REPORTS/r.xml" -- -count=1'
runs "go-junit-report" sh -c 'go test -count=1 -json . | bin/go-junit-report -parser gojson >"$REPORTS/r.xml"'

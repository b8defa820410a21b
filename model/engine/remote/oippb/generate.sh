#!/bin/sh
# Makes nero_oip.pb.go from nero_oip.proto. The same versions give the same bytes:
# protoc 3.21.12 (Debian 12's protobuf-compiler) and protoc-gen-go v1.36.11, which is built here from the module cache.
set -eu
cd "$(dirname "$0")"
want='libprotoc 3.21.12'
have=$(protoc --version) || { echo "generate.sh: protoc is missing (Debian: protobuf-compiler)" >&2; exit 1; }
if [ "$have" != "$want" ]; then
	echo "generate.sh: $have, want $want: the version is written into the generated file" >&2
	exit 1
fi
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin GOFLAGS= go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.11
PATH=$bin:$PATH protoc -I . --go_out=. --go_opt=paths=source_relative,Mnero_oip.proto=nero/model/engine/remote/oippb nero_oip.proto

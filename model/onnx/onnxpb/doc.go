// Package onnxpb is the Go code of the ONNX file format, generated from nero_onnx.proto by protoc.
//
// Message names live in the protobuf package nero.onnx, so that a program may link another Go package for ONNX as well.
// Fields of newer format versions are kept as unknown fields and survive decoding, editing and encoding.
package onnxpb

// Regeneration needs protoc 3.21.12 (Debian 12: protobuf-compiler); ordinary builds need nothing, the result is
// committed.
//go:generate sh generate.sh

// Package oippb is the Go code of the messages of the Open Inference Protocol, version 2, generated from nero_oip.proto
// by protoc, and the names of the calls that carry them.
//
// Message names live in the protobuf package nero.oip, so that a program may link another Go package for the protocol
// as well.
package oippb

// Regeneration needs protoc 3.21.12 (Debian 12: protobuf-compiler); ordinary builds need nothing, the result is
// committed.
//go:generate sh generate.sh

// Service is the full name of the gRPC service that every server of the protocol offers.
const Service = "inference.GRPCInferenceService"

// Full names of the calls of the service, as gRPC takes them.
const (
	ServerReadyCall    = "/" + Service + "/ServerReady"    // ServerReadyRequest, ServerReadyResponse
	ServerMetadataCall = "/" + Service + "/ServerMetadata" // ServerMetadataRequest, ServerMetadataResponse
	ModelReadyCall     = "/" + Service + "/ModelReady"     // ModelReadyRequest, ModelReadyResponse
	ModelMetadataCall  = "/" + Service + "/ModelMetadata"  // ModelMetadataRequest, ModelMetadataResponse
	ModelInferCall     = "/" + Service + "/ModelInfer"     // ModelInferRequest, ModelInferResponse
)

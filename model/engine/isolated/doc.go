// Package isolated runs an engine in a process of its own: the same program, started again, which loads a shared
// library or runs the embedded engine, and answers over its standard streams. What ends that process, a signal inside
// the library or the end of memory, becomes an error ([engine.CrashError]) of the call that was under way; the process
// is started again and its models are opened again when the next call comes. A call that does not end when its context
// does is ended with the process.
//
// # Frames
//
// Both sides write frames, the program to the process's standard input, the process to its standard output. A frame is
// 20 bytes, little-endian, then JSON, then tensors:
//
//	uint32 magic   "NRL1" as bytes
//	uint32 call    number of the call, chosen by the program; 0 for what answers none
//	uint32 json    bytes of JSON
//	uint64 tensors bytes of tensors
//
// The first frame of either side is its hello, call 0:
//
//	program: {"hello": {"protocol": 1, "library": PATH, "reason": TEXT, "memory": BYTES}}
//	process: {"hello": {"protocol": 1, "engine": {...}, "fingerprint": TEXT, "concurrent": BOOL, "note": TEXT}},
//	         or {"error": TEXT}, after which it ends
//
// After that the program asks, in any number of calls at once, and the process answers in any order, by number.
// Tensors are those of the Open Inference Protocol, version 2: name, shape, datatype, and in the parameters
// binary_data_size, the bytes that the tensor has among those at the end of the frame, in the order of the list.
//
//	{"method": "open", "model_name": NAME, "threads": N, "plain": BOOL}, the model's file as tensors
//	                                   -> {"inputs": [{"name": NAME}, ...], "outputs": [{"name": NAME}, ...]}
//	{"method": "infer", "model_name": NAME, "inputs": [...]}    -> {"outputs": [...]}
//	{"method": "close", "model_name": NAME}                     -> {}
//	{"method": "spent"}      -> {"spent": NANOSECONDS}, the processor time of the process so far
//	{"method": "cancel", "call": NUMBER}: that call is to end with an error soon; no answer
//
// An answer may be {"error": TEXT} instead. The process ends when its standard input does, so that it never outlives
// the program; on Linux the system also ends it with its parent. What a library prints goes to standard error, of which
// the first lines are kept to say why a process ended.
package isolated

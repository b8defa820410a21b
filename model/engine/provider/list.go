package provider

const (
	tensorFloat = "float32 numbers would be rounded to 10 bits before they are multiplied (TF32)"
	half        = "numbers would be computed with 10 or fewer bits"
	timing      = "which code computes would follow from how long it took, and so would the last digits"
)

// off is an option that has to be off.
func off(name, why string) Option { return Option{Name: name, Only: []string{"0"}, Why: why} }

// set is an option that is off and told so.
func set(name, why string) Option {
	return Option{Name: name, Preset: "0", Only: []string{"0"}, Why: why}
}

// free are options that change where and with how much memory, but no number.
func free(names ...string) []Option {
	var out []Option
	for _, n := range names {
		out = append(out, Option{Name: n, Place: true})
	}
	return out
}

// paths are options that name files or folders.
func paths(names ...string) []Option {
	var out []Option
	for _, n := range names {
		out = append(out, Option{Name: n, Place: true, Path: true})
	}
	return out
}

// others are options whose values nobody here judges.
func others(names ...string) []Option {
	var out []Option
	for _, n := range names {
		out = append(out, Option{Name: n})
	}
	return out
}

// options joins lists.
func options(lists ...[]Option) []Option {
	var out []Option
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// wheel is where the library of a Python package lies.
func wheel(name string) string {
	return "pip install " + name + "; then NERO_ORT_LIB=.../onnxruntime/capi/libonnxruntime.so.VERSION"
}

// all are the providers that can be named. Their options are those of ONNX Runtime 1.17 to 1.32.
func all() []Provider {
	return []Provider{
		openvino(), cuda(), tensorrt(), rocm(), migraphx(), directml(), coreml(), qnn(), webgpu(), xnnpack(),
	}
}

// openvino computes on processors and graphics of Intel, its processor part on any of x86-64.
func openvino() Provider {
	return Provider{
		Name: "openvino", Full: "OpenVINO" + suffix, Word: "OpenVINO", Serial: true,
		Source:   wheel("onnxruntime-openvino"),
		Choosers: []string{"ZE_AFFINITY_MASK", "ONEAPI_DEVICE_SELECTOR"},
		Options: options([]Option{
			{
				Name: "device_type", Preset: "CPU", Not: []string{"AUTO", "MULTI", "BATCH", "NPU"},
				Why: "which device answers would depend on time, or it computes with 10 or fewer bits; expected CPU, " +
					"GPU, GPU.1 or HETERO:GPU,CPU",
			},
			{Name: "precision", Preset: "FP32", Only: []string{"FP32"}, Why: half},
			{Name: "num_of_threads", Preset: "1"},
			{Name: "num_streams", Preset: "1"},
			off("enable_opencl_throttling", timing),
		}, free("model_priority"), paths("cache_dir"), others("disable_dynamic_shapes", "device_luid")),
	}
}

func cuda() Provider {
	return Provider{
		Name: "cuda", Full: "CUDA" + suffix, Variable: "NVIDIA_TF32_OVERRIDE",
		Choosers: []string{"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"},
		Source:   wheel("onnxruntime-gpu"),
		Options: options([]Option{
			set("use_tf32", tensorFloat),
			{
				Name: "cudnn_conv_algo_search", Preset: "DEFAULT", Only: []string{"DEFAULT", "HEURISTIC"}, Why: timing,
			},
			off("tunable_op_enable", timing), off("tunable_op_tuning_enable", timing),
			off("enable_cuda_graph", "inputs would have to lie where they lay before"),
		}, free("device_id", "gpu_mem_limit", "arena_extend_strategy", "do_copy_in_default_stream"),
			others("cudnn_conv_use_max_workspace", "cudnn_conv1d_pad_to_nc1d", "prefer_nhwc", "fuse_conv_bias",
				"sdpa_kernel", "enable_skip_layer_norm_strict_mode", "use_ep_level_unified_stream")),
	}
}

func tensorrt() Provider {
	return Provider{
		Name: "tensorrt", Full: "Tensorrt" + suffix, Variable: "NVIDIA_TF32_OVERRIDE",
		Choosers: []string{"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"},
		Source:   wheel("onnxruntime-gpu tensorrt-cu12"),
		Varies: "it chooses its code by how long that takes whenever it builds a model, so that two runs may differ " +
			"in the last digits; trt_engine_cache_enable=1 keeps what was built",
		Options: options([]Option{
			set("trt_fp16_enable", half), set("trt_int8_enable", half), off("trt_bf16_enable", half),
			off("trt_cuda_graph_enable", "inputs would have to lie where they lay before"),
			off("trt_dla_enable", half),
		}, free("device_id", "trt_max_workspace_size", "trt_engine_cache_enable", "trt_timing_cache_enable",
			"trt_force_timing_cache", "trt_force_sequential_engine_build"),
			paths("trt_engine_cache_path", "trt_timing_cache_path"),
			others("trt_builder_optimization_level", "trt_min_subgraph_size", "trt_max_partition_iterations",
				"trt_profile_min_shapes", "trt_profile_max_shapes", "trt_profile_opt_shapes",
				"trt_layer_norm_fp32_fallback", "trt_op_types_to_exclude")),
	}
}

func rocm() Provider {
	return Provider{
		Name: "rocm", Full: "ROCM" + suffix, Source: wheel("onnxruntime-rocm"),
		Choosers: []string{"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"},
		Options: options([]Option{
			off("tunable_op_enable", timing), off("tunable_op_tuning_enable", timing),
			off("miopen_conv_exhaustive_search", timing),
		}, free("device_id", "gpu_mem_limit", "arena_extend_strategy", "do_copy_in_default_stream")),
	}
}

func migraphx() Provider {
	return Provider{
		Name: "migraphx", Full: "MIGraphX" + suffix, Word: "MIGraphX", Source: wheel("onnxruntime-migraphx"),
		Choosers: []string{"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"},
		Options: options([]Option{
			set("migraphx_fp16_enable", half), off("migraphx_bf16_enable", half), off("migraphx_fp8_enable", half),
			off("migraphx_int8_enable", half), off("migraphx_exhaustive_tune", timing),
		}, free("device_id", "migraphx_mem_limit"), paths("migraphx_model_cache_dir")),
	}
}

func directml() Provider {
	return Provider{
		Name: "directml", Full: "Dml" + suffix, Word: "DML", Serial: true,
		Source: "pip install onnxruntime-directml on Windows; then " +
			"NERO_ORT_LIB=...\\onnxruntime\\capi\\onnxruntime.dll",
		Options: options([]Option{
			{
				Name: "disable_metacommands", Preset: "true", Only: []string{"true"},
				Why: "code of the graphics driver, of unknown precision, would take the place of what is known",
			},
			{
				Name: "enable_graph_capture", Only: []string{"false"},
				Why: "inputs would have to lie where they lay before",
			},
		}, free("device_id", "device_filter", "performance_preference")),
	}
}

func coreml() Provider {
	return Provider{
		Name: "coreml", Full: "CoreML" + suffix, Word: "CoreML",
		Source: "pip install onnxruntime on macOS; then NERO_ORT_LIB=.../onnxruntime/capi/libonnxruntime.VERSION.dylib",
		Options: options([]Option{
			{Name: "ModelFormat", Preset: "MLProgram", Only: []string{"MLProgram"}, Why: half},
			{
				Name: "MLComputeUnits", Preset: "CPUAndGPU", Only: []string{"CPUAndGPU", "CPUOnly"},
				Why: "the Neural Engine computes with 10 bits",
			},
			set("AllowLowPrecisionAccumulationOnGPU", half),
		}, free("ProfileComputePlan"), paths("ModelCacheDirectory"),
			others("RequireStaticInputShapes", "EnableOnSubgraphs", "SpecializationStrategy")),
	}
}

func qnn() Provider {
	return Provider{
		Name: "qnn", Full: "QNN" + suffix, Word: "QNN", Serial: true, Source: wheel("onnxruntime-qnn"),
		Options: options([]Option{
			set("enable_htp_fp16_precision", half),
			{Name: "backend_type", Only: []string{"cpu", "gpu", "htp"}, Why: "the others only write files"},
		}, free("device_id", "htp_performance_mode", "rpc_control_latency", "vtcm_mb", "qnn_context_priority"),
			paths("backend_path"), others("soc_model", "htp_arch", "htp_graph_finalization_optimization_mode",
				"offload_graph_io_quantization")),
	}
}

func webgpu() Provider {
	return Provider{
		Name: "webgpu", Full: "WebGpu" + suffix, Word: "WebGPU", Serial: true,
		Source: "a build of ONNX Runtime with --use_webgpu, such as that of the npm package onnxruntime-node for its " +
			"platforms; then NERO_ORT_LIB=PATH",
		Options: options([]Option{off("enableGraphCapture", "inputs would have to lie where they lay before")},
			free("deviceId", "powerPreference", "storageBufferCacheMode", "uniformBufferCacheMode"),
			others("preferredLayout", "dawnBackendType", "validationMode")),
	}
}

func xnnpack() Provider {
	return Provider{
		Name: "xnnpack", Full: "Xnnpack" + suffix, Word: "XNNPACK",
		Source:  "a build of ONNX Runtime with --use_xnnpack; then NERO_ORT_LIB=PATH",
		Options: []Option{{Name: "intra_op_num_threads", Preset: "1"}},
	}
}

package onnx

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"nero/model/onnx/onnxpb"
)

// MaxSize is the length of the largest model that [Read] takes, in bytes: the limit of the file format itself, 2 GiB -
// 1, with all that lies in files beside it.
const MaxSize = 1<<31 - 1

// ErrNotModel marks bytes that are not a whole ONNX model.
var ErrNotModel = errors.New("not an ONNX model")

// ErrExternalData marks models whose weights lie in other files.
var ErrExternalData = errors.New("weights in a separate file are read only beside a model in a folder")

// Read loads the model in a file, with weights that lie in other files of its folder. Errors name the file.
func Read(path string) (*Model, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file: %w", path, fs.ErrNotExist)
	case err != nil:
		return nil, err
	case st.IsDir():
		return nil, fmt.Errorf("%s: %w: it is a folder; name the .onnx file in it", path, ErrNotModel)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w: it is not a regular file", path, ErrNotModel)
	case st.Size() > MaxSize:
		return nil, fmt.Errorf("%s: %w: %d bytes, an ONNX file has at most %d", path, ErrNotModel, st.Size(),
			int64(MaxSize))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := Load(b)
	if errors.Is(err, ErrExternalData) {
		if b, err = whole(b, filepath.Dir(path)); err == nil {
			m, err = Load(b)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.name = path
	return m, nil
}

// Load decodes a model and checks what every later step relies on: the graph has nodes and outputs, operators have a
// version, every value that a node reads is made before it, and stored tensors hold what their shapes promise.
// The error says what the bytes seem to be if they are not a model ([ErrNotModel]). b is kept, for the numbers in it,
// and is not to be changed any more.
func Load(b []byte) (*Model, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrNotModel)
	}
	if len(b) > MaxSize {
		return nil, fmt.Errorf("%w: %d bytes, an ONNX file has at most %d", ErrNotModel, len(b), int64(MaxSize))
	}
	p := &onnxpb.ModelProto{}
	if err := unmarshal(b, p); err != nil || p.GetGraph() == nil {
		return nil, fmt.Errorf("%w: %s", ErrNotModel, diagnose(b))
	}
	if err := validate(p); err != nil {
		// Foreign bytes may decode by chance; what they look like then explains more than what is wrong with them.
		if what := foreign(b); what != "" && !errors.Is(err, ErrExternalData) {
			return nil, fmt.Errorf("%w: %s", ErrNotModel, what)
		}
		return nil, err
	}
	return &Model{name: "model", size: len(b), proto: p, sig: signature(p), source: b}, nil
}

// validate checks the structure of a decoded model.
func validate(p *onnxpb.ModelProto) error {
	g := p.GetGraph()
	if p.GetIrVersion() < 1 {
		return fmt.Errorf("%w: the file states no IR version", ErrNotModel)
	}
	if len(g.GetNode()) == 0 {
		return fmt.Errorf("%w: its graph has no nodes", ErrNotModel)
	}
	if len(g.GetOutput()) == 0 {
		return fmt.Errorf("%w: its graph has no outputs", ErrNotModel)
	}
	if len(p.GetOpsetImport()) == 0 && p.GetIrVersion() >= 3 {
		return fmt.Errorf("%w: no operator set version (opset_import); the file seems to be cut off, copy or export "+
			"it again", ErrNotModel)
	}
	var bad error
	visitModel(p, func(n *onnxpb.NodeProto) {
		switch {
		case bad != nil:
		case n.GetOpType() == "":
			bad = fmt.Errorf("%w: %s has no operator", ErrNotModel, strings.TrimSpace("a node "+Describe(n)))
		case len(n.GetOutput()) == 0:
			bad = fmt.Errorf("%w: the node %s that reads %s has no output; take it out of the graph, since nothing "+
				"can use it", ErrNotModel, Describe(n), quote(strings.Join(n.GetInput(), ", ")))
		}
	}, func(where string, t *onnxpb.TensorProto) {
		switch {
		case bad != nil:
		case t.GetDataLocation() == onnxpb.TensorProto_EXTERNAL:
			bad = fmt.Errorf("%s lies in %s: %w; %s", where, quote(location(t)), ErrExternalData, oneFile)
		default:
			if err := checkStored(t); err != nil {
				bad = fmt.Errorf("%w: %s: %w", ErrNotModel, where, err)
			}
		}
	})
	if bad != nil {
		return bad
	}
	if err := order(g); err != nil {
		return err
	}
	return bounded(p)
}

// location is the file that holds an external tensor.
func location(t *onnxpb.TensorProto) string {
	for _, e := range t.GetExternalData() {
		if e.GetKey() == "location" {
			return e.GetValue()
		}
	}
	return "a file without a name"
}

// order checks that every value is made once, and before it is read.
func order(g *onnxpb.GraphProto) error {
	have := initializers(g)
	for _, v := range g.GetInput() {
		have[v.GetName()] = true
	}
	for _, n := range g.GetNode() {
		for _, in := range n.GetInput() {
			if in != "" && !have[in] {
				return fmt.Errorf("%w: %s reads %s, which nothing before it makes", ErrNotModel, Describe(n), quote(in))
			}
		}
		for _, out := range n.GetOutput() {
			if out == "" {
				continue
			}
			if have[out] {
				return fmt.Errorf("%w: %s makes %s, which exists already", ErrNotModel, Describe(n), quote(out))
			}
			have[out] = true
		}
	}
	for _, v := range g.GetOutput() {
		if !have[v.GetName()] {
			return fmt.Errorf("%w: nothing makes the output %s", ErrNotModel, quote(v.GetName()))
		}
	}
	return nil
}

// diagnose says what bytes that do not decode as a model seem to be.
func diagnose(b []byte) string {
	if what := foreign(b); what != "" {
		return what
	}
	if what := cut(b); what != "" {
		return what
	}
	return "it decodes neither as ONNX nor as any format known here; export the model to ONNX again"
}

// magics are the first bytes of formats that people hand over by mistake.
var magics = []struct {
	at    int
	magic string
	what  string
}{
	{0, "\x89PNG\r\n\x1a\n", "it is a PNG image"},
	{0, "\xff\xd8\xff", "it is a JPEG image"},
	{0, "GIF8", "it is a GIF image"},
	{0, "%PDF-", "it is a PDF document"},
	{0, "\x1f\x8b", "it is compressed with gzip; unpack it first"},
	{0, "BZh", "it is compressed with bzip2; unpack it first"},
	{0, "\xfd7zXZ\x00", "it is compressed with xz; unpack it first"},
	{0, "\x28\xb5\x2f\xfd", "it is compressed with zstd; unpack it first"},
	{257, "ustar", "it is a tar archive; unpack it first"},
	{0, "\x89HDF\r\n\x1a\n", "it is an HDF5 file, probably a Keras model; convert it with tf2onnx"},
	{0, "\x93NUMPY", "it is a NumPy array (.npy): data, not a model"},
	{4, "TFL3", "it is a TensorFlow Lite model; convert it with tf2onnx"},
	{4, "ORTM", "it is an ONNX Runtime model (.ort); give the .onnx file that it was made from"},
	{0, "GGUF", "it is a GGUF model"},
	{0, "\x7fELF", "it is an executable or a shared library"},
	{0, "MZ", "it is a Windows program or library"},
	{
		0, "version https://git-lfs.github.com/spec/",
		"it is a Git LFS pointer, not the file itself; fetch it with git lfs pull",
	},
}

// foreign recognizes other formats; "" if b is none of them.
func foreign(b []byte) string {
	for _, m := range magics {
		if len(b) >= m.at+len(m.magic) && string(b[m.at:m.at+len(m.magic)]) == m.magic {
			return m.what
		}
	}
	switch {
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return zipped(b)
	case len(b) > 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5 &&
		(b[2] == 'c' || b[2] == '}' || b[2] == ']' || b[2] == 0x8a || b[2] == 0x95):
		return "it is a Python pickle, probably a PyTorch checkpoint (.pt, .pth); export the model with " +
			"torch.onnx.export"
	case len(b) > 9 && b[8] == '{' && b[9] == '"' && bytes.Equal(b[4:8], []byte{0, 0, 0, 0}):
		return "it is a safetensors file: weights without a graph; export the model to ONNX"
	}
	return text(b)
}

// zipped tells PyTorch, Keras and NumPy archives apart by the names in their first and last bytes.
func zipped(b []byte) string {
	const begins, ends = 4096, 1 << 16
	head := b[:min(len(b), begins)]
	list := b[max(0, len(b)-ends):] // the names of all files stand at the end: those of TorchScript begin with weights
	switch {
	case bytes.Contains(head, []byte("/data.pkl")) || bytes.Contains(head, []byte("/byteorder")) ||
		bytes.Contains(head, []byte("constants.pkl")) || bytes.Contains(list, []byte("/data.pkl")):
		return "it is a PyTorch file (.pt, .pth); export the model with torch.onnx.export"
	case bytes.Contains(head, []byte("model.weights.h5")) || bytes.Contains(head, []byte("metadata.json")):
		return "it is a Keras model (.keras); convert it with tf2onnx"
	case bytes.Contains(head, []byte(".npy")):
		return "it is a NumPy archive (.npz): data, not a model"
	}
	return "it is a zip archive; unpack it first"
}

// text recognizes pages and plain text.
func text(b []byte) string {
	head := b[:min(len(b), 512)]
	for len(head) > 0 && !utf8.Valid(head) && len(b) > len(head) && len(head) > 508 {
		head = head[:len(head)-1] // the cut may go through a character
	}
	if !utf8.Valid(head) ||
		slices.ContainsFunc(head,
			func(c byte) bool { return c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' }) {
		return ""
	}
	s := strings.ToLower(strings.TrimLeft(string(head), " \t\r\n\ufeff"))
	switch {
	case strings.HasPrefix(s, "<!doctype html") || strings.HasPrefix(s, "<html"):
		return "it is an HTML page; a download probably returned an error or a login page"
	case strings.HasPrefix(s, "<?xml"):
		return "it is an XML file; an OpenVINO model has to be exported to ONNX from its source"
	case strings.HasPrefix(s, "{") || strings.HasPrefix(s, "["):
		return "it is a JSON file"
	}
	return "it is a text file"
}

// cut recognizes a model file that ends too early: its fields are those of a model up to one that is longer than the
// rest.
func cut(b []byte) string {
	rest := b
	for fields := 0; len(rest) > 0; fields++ {
		num, typ, n := protowire.ConsumeTag(rest)
		if n < 0 || !modelField(num, typ) {
			if fields > 0 && n < 0 && len(rest) < 10 {
				return "the file seems to be cut off; copy or download it again"
			}
			return ""
		}
		rest = rest[n:]
		if typ == protowire.BytesType {
			size, k := protowire.ConsumeVarint(rest)
			if k < 0 || size > uint64(len(rest)-k) {
				if k > 0 && size <= MaxSize {
					return fmt.Sprintf("the file is cut off: %d bytes of the %s are missing; copy or download it again",
						size-uint64(len(rest)-k), modelFields[num])
				}
				return "the file is cut off; copy or download it again"
			}
			rest = rest[k+int(size):]
			continue
		}
		n = protowire.ConsumeFieldValue(num, typ, rest)
		if n < 0 {
			return "the file is cut off; copy or download it again"
		}
		rest = rest[n:]
	}
	return "it is a protobuf file without an ONNX graph; a TensorFlow graph has to be converted with tf2onnx"
}

// modelFields are the length-delimited fields of ModelProto.
var modelFields = map[protowire.Number]string{
	2: "producer's name", 3: "producer's version", 4: "domain", 6: "documentation", 7: "graph",
	8:  "operator set versions",
	14: "metadata", 20: "training information", 25: "functions", 26: "device configuration",
}

// modelField tells whether a tag can stand in a model file.
func modelField(num protowire.Number, typ protowire.Type) bool {
	if num == 1 || num == 5 {
		return typ == protowire.VarintType
	}
	return typ == protowire.BytesType && modelFields[num] != ""
}

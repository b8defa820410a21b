package onnx

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"google.golang.org/protobuf/proto"

	"nero/data/tensor"
	"nero/model/onnx/onnxpb"
)

// oneFile is the remedy that always works.
const oneFile = "save the model as one file (Python: onnx.save(onnx.load(path), path, save_as_external_data=False))"

// whole is a model with the numbers in it that lie in files beside it, as the bytes of one file. Nothing is read from
// outside of the folder, and sizes are known before memory is taken.
func whole(b []byte, folder string) ([]byte, error) {
	p := &onnxpb.ModelProto{}
	if err := unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrNotModel, diagnose(b))
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing is lost
	x := &beside{root: root, files: map[string]*os.File{}, total: int64(len(b))}
	defer x.close()
	for _, take := range []func(t *onnxpb.TensorProto) error{x.count, x.fill} {
		var bad error
		visitModel(p, nil, func(where string, t *onnxpb.TensorProto) {
			if bad != nil || t.GetDataLocation() != onnxpb.TensorProto_EXTERNAL {
				return
			}
			if err := take(t); err != nil {
				bad = fmt.Errorf("%s lies in %s: %w", where, quote(location(t)), err)
			}
		})
		if bad != nil {
			return nil, bad
		}
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(p)
}

// beside are the files beside a model.
type beside struct {
	root  *os.Root
	files map[string]*os.File
	// bytes of all that was counted
	total int64
}

func (x *beside) close() {
	for _, f := range x.files {
		_ = f.Close() // only read
	}
}

// open opens a file in the folder of the model, and no other.
func (x *beside) open(name string) (*os.File, error) {
	if f, ok := x.files[name]; ok {
		return f, nil
	}
	path := filepath.FromSlash(name)
	if !filepath.IsLocal(path) {
		return nil, errors.New("that is outside of the folder of the model, where nothing is read from; move the " +
			"file into the folder and " + oneFile)
	}
	switch st, err := x.root.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file beside the model; copy it there")
	case err != nil:
		return nil, fmt.Errorf("%w; copy the file itself beside the model: links out of its folder are not followed",
			err)
	case !st.Mode().IsRegular():
		return nil, errors.New("that is not a regular file; " + oneFile)
	}
	f, err := x.root.Open(path)
	if err != nil {
		return nil, err
	}
	x.files[name] = f
	return f, nil
}

// span is where the numbers of a tensor lie in their file.
func span(t *onnxpb.TensorProto) (offset, length int64, err error) {
	length = -1
	for _, e := range t.GetExternalData() {
		at := &offset
		switch e.GetKey() {
		case "offset":
		case "length":
			at = &length
		default:
			continue
		}
		n, err := strconv.ParseInt(e.GetValue(), 10, 64)
		if err != nil || n < 0 {
			return 0, 0, fmt.Errorf("its %s is %s, want a number of bytes; export the model again", e.GetKey(),
				quote(e.GetValue()))
		}
		*at = n
	}
	shape, err := StoredShape(t)
	if err != nil {
		return 0, 0, err
	}
	size := int64(tensor.DType(t.GetDataType()).Size())
	if size == 0 {
		if length < 0 {
			return 0, 0, errors.New("nothing says how long it is; " + oneFile)
		}
		return offset, length, nil
	}
	want := int64(tensor.Count(shape)) * size
	if length >= 0 && length != want {
		return 0, 0, fmt.Errorf("%s%v takes %d bytes, and %d are said to lie there; export the model again",
			typeName(t.GetDataType()), shape, want, length)
	}
	return offset, want, nil
}

// count holds the place of a tensor against the size of its file.
func (x *beside) count(t *onnxpb.TensorProto) error {
	f, err := x.open(location(t))
	if err != nil {
		return err
	}
	offset, length, err := span(t)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if offset > st.Size() || length > st.Size()-offset {
		return fmt.Errorf("%d bytes from byte %d on, and the file has %d: it is cut off; copy it again", length, offset,
			st.Size())
	}
	if length > math.MaxInt64-x.total {
		length = math.MaxInt64 - x.total
	}
	if x.total += length; x.total > MaxSize {
		return fmt.Errorf("with it the model has more than %d bytes, as many as are read; name a smaller model",
			int64(MaxSize))
	}
	return nil
}

// fill reads the numbers of a tensor.
func (x *beside) fill(t *onnxpb.TensorProto) error {
	f, err := x.open(location(t))
	if err != nil {
		return err
	}
	offset, length, err := span(t)
	if err != nil {
		return err
	}
	raw := make([]byte, length)
	if n, err := f.ReadAt(raw, offset); n < len(raw) {
		return err
	}
	t.RawData, t.ExternalData, t.DataLocation = raw, nil, nil
	return nil
}

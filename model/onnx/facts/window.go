package facts

import (
	"fmt"
	"slices"

	"nero/model/onnx"
	"nero/model/onnx/onnxpb"
)

// Window is the geometry of a convolution or pooling along its spatial axes. All lists have one entry per axis.
type Window struct {
	Kernel, Stride, Dilation []int
	// padding as it is applied: automatic padding is resolved
	Begin, End []int
	// lengths before and after
	In, Out    []int
	Transposed bool
}

// Extent is the reach of the kernel along axis i: (kernel-1)*dilation + 1.
func (w *Window) Extent(i int) int { return (w.Kernel[i]-1)*w.Dilation[i] + 1 }

// Window is the geometry of the node; ok is false if it is no convolution or pooling, or if its shapes are not known.
func (n Node) Window() (w *Window, ok bool) {
	if n.win == nil {
		return nil, false
	}
	return &Window{
		Kernel: slices.Clone(n.win.Kernel), Stride: slices.Clone(n.win.Stride), Dilation: slices.Clone(n.win.Dilation),
		Begin: slices.Clone(n.win.Begin), End: slices.Clone(n.win.End), In: slices.Clone(n.win.In),
		Out: slices.Clone(n.win.Out), Transposed: n.win.Transposed,
	}, true
}

// ReadWindow reads the attributes that convolutions and poolings share. Automatic padding is not resolved yet: see
// [Window.Slide] where the lengths after are asked for, [Window.Pad] where they are known.
func ReadWindow(n *onnxpb.NodeProto, in, kernel []int) (*Window, error) {
	w := &Window{Kernel: kernel, In: in}
	if len(kernel) != len(in) {
		return nil, fmt.Errorf("a kernel of %d axes on a map of %d", len(kernel), len(in))
	}
	read := func(name string, count, def, least int) ([]int, error) {
		out := make([]int, count)
		given := onnx.Ints(n, name, nil)
		for i := range out {
			out[i] = def
			if len(given) > 0 {
				if len(given) != count {
					return nil, fmt.Errorf("%s has %d entries, want %d", name, len(given), count)
				}
				if given[i] < int64(least) || given[i] > 1<<31-1 {
					return nil, fmt.Errorf("%s is %d", name, given[i])
				}
				out[i] = int(given[i])
			}
		}
		return out, nil
	}
	var err error
	if w.Stride, err = read("strides", len(in), 1, 1); err != nil {
		return nil, err
	}
	if w.Dilation, err = read("dilations", len(in), 1, 1); err != nil {
		return nil, err
	}
	pads, err := read("pads", 2*len(in), 0, 0)
	if err != nil {
		return nil, err
	}
	w.Begin, w.End = pads[:len(in)], pads[len(in):]
	for _, k := range kernel {
		if k < 1 || k > 1<<31-1 {
			return nil, fmt.Errorf("a kernel of %v", kernel)
		}
	}
	return w, nil
}

// Slide computes the lengths after a convolution or pooling, and resolves the automatic padding that auto_pad names.
// With ceil a last window may start inside and reach beyond.
func (w *Window) Slide(auto string, ceil bool) error {
	w.Out = make([]int, len(w.In))
	for i, n := range w.In {
		s := w.Stride[i]
		switch auto {
		case "SAME_UPPER", "SAME_LOWER":
			w.Out[i] = (n + s - 1) / s
			continue
		case "VALID":
			w.Begin[i], w.End[i] = 0, 0
		}
		span := n + w.Begin[i] + w.End[i] - w.Extent(i)
		if span < 0 {
			return fmt.Errorf("axis %d has the length %d with pads, the kernel reaches over %d", i, span+w.Extent(i),
				w.Extent(i))
		}
		w.Out[i] = span/s + 1
		if ceil && span%s != 0 && w.Out[i]*s < n+w.Begin[i] {
			w.Out[i]++
		}
	}
	return w.Pad(auto)
}

// Pad resolves the automatic padding that auto_pad names, for lengths after that are known.
func (w *Window) Pad(auto string) error {
	for i := range w.In {
		switch auto {
		case "SAME_UPPER", "SAME_LOWER":
			total := max((w.Out[i]-1)*w.Stride[i]+w.Extent(i)-w.In[i], 0)
			w.Begin[i], w.End[i] = total/2, total-total/2
			if auto == "SAME_LOWER" {
				w.Begin[i], w.End[i] = w.End[i], w.Begin[i]
			}
		case "VALID":
			w.Begin[i], w.End[i] = 0, 0
		case "NOTSET", "":
		default:
			return fmt.Errorf("auto_pad %q", auto)
		}
	}
	return nil
}

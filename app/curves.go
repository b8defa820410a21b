package app

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"nero/internal/disk"
	"nero/serve/shelf"
	"nero/serve/tables"
)

// curvesTable is the name of all curves of a metric as an array, for programs.
const curvesTable = "curves"

// exportCurves writes the curves of a metric as an npy file of float32: samples, models, elements. What does not exist
// is NaN.
func (o *ExportOptions) exportCurves(run *shelf.Run, q tables.Request) error {
	if o.Format != "" && o.Format != "npy" {
		return fmt.Errorf("--format %s: curves are an array of numbers; leave it out, or say npy", o.Format)
	}
	write := func(w io.Writer) error { return writeCurves(w, run, q.Metric) }
	if o.Out == "" {
		return write(o.To)
	}
	return disk.Write(disk.OS{}, o.Out, write)
}

func writeCurves(w io.Writer, run *shelf.Run, metric int) error {
	doc := run.Document()
	models, elements := len(doc.Models), len(doc.Orbit.Elements)
	head := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, %d), }", doc.Samples, models,
		elements)
	const before, line = 10, 64 // what stands before the text, and what its end is aligned to
	head += strings.Repeat(" ", line-1-(before+len(head))%line) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	if _, err := w.Write(append(b, head...)); err != nil {
		return err
	}
	b = make([]byte, 0, 4*models*elements)
	for i := range doc.Samples {
		one, err := run.Sample(i)
		if err != nil {
			return err
		}
		b = b[:0]
		for m := range models {
			for k := range elements {
				x := math.NaN()
				if m < len(one.Curves) && metric < len(one.Curves[m]) && k < len(one.Curves[m][metric]) {
					x = float64(one.Curves[m][metric][k])
				}
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x)))
			}
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

package dataset

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Survey is what is found of masks in a folder that nobody has said anything about.
type Survey struct {
	// what a study has to say to read them; "" for nothing
	Format, Targets string
	Photos          int
	// Classes are those that the masks name themselves, as COCO does.
	Classes []string
	// Numbers and Colors are what the pixels of the first PNG masks hold, in rising order.
	Numbers []int
	Colors  [][]int
	// Looked is how many masks that were.
	Looked int
}

// surveyed is how many masks a survey looks into, and how many colors it keeps.
const (
	surveyed   = 8
	mostColors = 256
)

// SurveyMasks looks for photos with a class for every pixel in a folder, however they lie there: nil if there are none.
// The error is what is wrong with masks that can be nothing else.
func SurveyMasks(root string) (*Survey, error) { return surveyMasks(disk{}, root) }

func surveyMasks(fsys fs.FS, root string) (*Survey, error) {
	o := newOpener(fsys)
	if !o.isFolder(root) {
		return nil, nil //nolint:nilnil // a file has no masks
	}
	// Sizes may differ: whoever opens the data brings them to one.
	spec := Spec{Images: root, Fit: [2]int{8, 8}}
	if masksFormat.Sniff.Folder(fsys, root, "") {
		d, err := masksFormat.Open(fsys, spec)
		if err != nil {
			return nil, err
		}
		return survey(fsys, d, &Survey{})
	}
	if o.amongPhotos(root) {
		if d, err := masksFormat.Open(fsys, spec); err == nil {
			return survey(fsys, d, &Survey{Format: masksFormat.Name})
		}
	}
	name, err := o.findJSON(root)
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // a folder of photos alone
	}
	spec.Targets = name
	d, err := cocoMasksFormat.Open(fsys, spec)
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // of another kind, such as boxes
	}
	return survey(fsys, d, &Survey{Targets: name})
}

// amongPhotos tells whether a photo has a file beside it that is called as its mask.
func (o opener) amongPhotos(root string) bool {
	l := listing{fsys: o.fsys, root: root, endings: imageEndings(), noun: "images"}
	if l.find() != nil {
		return false
	}
	stems := map[string]bool{}
	for _, p := range l.paths {
		stems[stem(p)] = true
	}
	return slices.ContainsFunc(l.paths, func(p string) bool {
		return slices.ContainsFunc(usualMasks()[1:], func(word string) bool {
			name, ok := strings.CutSuffix(stem(p), strings.TrimPrefix(word, shared))
			return ok && path.Base(name) != "." && stems[name] && slices.Contains(maskEndings(), ending(p))
		})
	})
}

// survey fills in what the masks hold.
func survey(fsys fs.FS, ds Dataset, s *Survey) (*Survey, error) {
	d, ok := ds.(*photos)
	if !ok || d.masks == nil {
		return nil, nil //nolint:nilnil // not photos with masks
	}
	s.Photos = len(d.items)
	if s.Targets != "" {
		s.Classes = d.names
		return s, nil
	}
	numbers, colors := map[int]bool{}, map[[3]uint8]bool{}
	for i := range d.items[:min(len(d.items), surveyed)] {
		p := &d.items[i]
		b, err := readWhole(fsys, p.mask)
		if err != nil {
			return nil, err
		}
		if err := lookInto(b, numbers, colors); err != nil {
			return nil, inFile(p.mask, err)
		}
		s.Looked++
	}
	s.Numbers = slices.Sorted(maps.Keys(numbers))
	for c := range colors {
		s.Colors = append(s.Colors, []int{int(c[0]), int(c[1]), int(c[2])})
	}
	slices.SortFunc(s.Colors, slices.Compare[[]int])
	return s, nil
}

// lookInto collects what the pixels of a PNG mask hold.
func lookInto(b []byte, numbers map[int]bool, colors map[[3]uint8]bool) error {
	if _, _, err := maskSize(b); err != nil {
		return err
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("the PNG data are damaged: %w; fetch the file again or remove it", err)
	}
	spread := spreadOf(b)
	r := img.Bounds()
	grey := true
	seen := map[[3]uint8]bool{}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			switch m := img.(type) {
			case *image.Gray:
				numbers[int(m.GrayAt(x, y).Y)/spread] = true
			case *image.Paletted:
				numbers[int(m.ColorIndexAt(x, y))] = true
			default:
				c, _ := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
				grey = grey && c.R == c.G && c.G == c.B
				if len(seen) < mostColors {
					seen[[3]uint8{c.R, c.G, c.B}] = true
				}
			}
		}
	}
	for c := range seen {
		if grey {
			numbers[int(c[0])] = true
		} else if len(colors) < mostColors {
			colors[c] = true
		}
	}
	return nil
}

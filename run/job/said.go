package job

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
)

// Change changes a study and remembers who did it: a mistake in a field that has another value now is reported at that
// place, such as "--group", and no longer at a line of the file. The error is that of the change; the study is then as
// it was.
func (s *Study) Change(place string, change func(*Study) error) error {
	was := *s
	if err := change(s); err != nil {
		*s = was
		return err
	}
	src := &source{file: "study", at: map[string]position{}}
	if s.src != nil {
		src = &source{file: s.src.file, at: maps.Clone(s.src.at), said: maps.Clone(s.src.said)}
	}
	if src.said == nil {
		src.said = map[string]string{}
	}
	for _, path := range changed(reflect.ValueOf(was), reflect.ValueOf(*s), "") {
		inside := func(p string) bool {
			return p == path || strings.HasPrefix(p, path+".") || strings.HasPrefix(p, path+"[")
		}
		maps.DeleteFunc(src.at, func(p string, _ position) bool { return inside(p) })
		maps.DeleteFunc(src.said, func(p, _ string) bool { return inside(p) })
		src.said[path] = place
	}
	s.src = src
	return nil
}

// changed are the paths of the fields that differ: of lists as a whole, of blocks by their fields.
func changed(a, b reflect.Value, path string) []string {
	if a.Kind() != reflect.Struct {
		if reflect.DeepEqual(a.Interface(), b.Interface()) {
			return nil
		}
		return []string{path}
	}
	var out []string
	for i := range a.NumField() {
		if f := a.Type().Field(i); f.IsExported() {
			out = append(out, changed(a.Field(i), b.Field(i), join(path, keyOf(f)))...)
		}
	}
	return out
}

// where is the place of a field, or of what surrounds it.
func (s *source) where(path string) string {
	for {
		if place, ok := s.said[path]; ok {
			return place
		}
		if p, ok := s.at[path]; ok {
			return fmt.Sprintf("%s:%d:%d", s.file, p.line, p.column)
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return s.file
		}
		path = path[:i]
	}
}

package job

import (
	"context"
	"strings"

	"nero/symmetry/define"
	"nero/symmetry/group"
	"nero/symmetry/group/catalog"
)

// Open is the group that the study names or defines. The file must have been read before ([Group.Definition]). start
// runs the program of a group that is defined by one; nil where none may run.
func (g Group) Open(ctx context.Context, start define.Starter) (group.Group, error) {
	return OpenGroup(ctx, g.Name, g.Definition, start)
}

// OpenGroup is the group of a name, or of a definition if there is one.
func OpenGroup(ctx context.Context, name, definition string, start define.Starter) (group.Group, error) {
	if definition == "" {
		return catalog.Parse(name)
	}
	return define.Load(ctx, strings.NewReader(definition), start)
}

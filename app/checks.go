package app

import (
	"nero/audit"
)

// Check is a check of an audit as it is listed.
type Check struct {
	Name string `json:"name"`
	// "judges" or "explains"
	Role string `json:"role"`
	// Family names all checks of one family together; empty for a check that stands alone.
	Family   string        `json:"family,omitempty"`
	Summary  string        `json:"summary"`
	Doc      string        `json:"doc"`
	Requires []string      `json:"requires,omitempty"`
	Uses     []string      `json:"uses,omitempty"`
	Params   []audit.Param `json:"params,omitempty"`
}

// Checks are the named checks, in the order in which they are asked; without names, all of them.
func (a *App) Checks(names ...string) ([]Check, error) {
	all, _, err := a.Parts.checks().Select(names, nil)
	if err != nil {
		return nil, err
	}
	var out []Check
	for _, c := range all {
		e := Check{
			Name: c.Name, Role: "judges", Family: c.Family, Summary: c.Summary(), Doc: c.Doc,
			Params: c.Params,
		}
		if c.Optional {
			e.Role = "explains"
		}
		for _, r := range c.Requires {
			e.Requires = append(e.Requires, r.Name)
		}
		for _, u := range c.Uses {
			e.Uses = append(e.Uses, u.Name)
		}
		out = append(out, e)
	}
	return out, nil
}

package app

import "nero/run/job"

// lawful refuses given views where a group is needed.
func lawful(s *job.Study, command string) error {
	if s.Data.Views == "" {
		return nil
	}
	return s.Errorf("data.views", "given views are listed, and nero %s asks for a group, which has products and "+
		"inverses; ask about views with nero run, nero audit, nero repeat or nero embed, or name data.images here",
		command)
}

package lint

func (l *linter) weights() {}

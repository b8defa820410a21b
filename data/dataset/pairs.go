package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nero/data/space"
)

// pairsFormat is sequences of pictures, with fields or without. It is never guessed: a folder of pairs is a folder of
// images as well.
var pairsFormat = &Format{
	Name: "pairs", Doc: "Pairs or longer sequences of frames, with fields of displacement where there are any.",
	Options: []Option{
		WithPattern, WithLayout, WithKey, WithLabels, WithTargets, WithNoTargets, WithTargetKey, WithUpward,
	},
	Open: reads(opener.openPairs),
}

// pair is one sample of a folder: frames in files of their own, or the pages of one TIFF file.
type pair struct {
	id string
	// indexes of the files, in the order of time
	frames []int
	// file of the field; "" for none
	truth string
	tags  []string
}

// pairFolder is a folder of frames while it is opened.
type pairFolder struct {
	*folder
	// of each file
	pages [][]picture
	pairs []pair
	// frames of a pair
	t int
}

// openPairs opens image pairs or longer sequences, with fields where there are any: a folder of images, or an array of
// frames.
func (o opener) openPairs(spec Spec) (Dataset, error) {
	if !o.isFolder(spec.Images) {
		f, err := o.fsys.Open(spec.Images)
		if err != nil {
			return nil, err
		}
		var head [16]byte
		n, _ := f.Read(head[:]) // what is too short shows below
		if err := f.Close(); err != nil {
			return nil, err
		}
		if imageFormat(head[:n]) == "" {
			return o.openPairArrays(spec)
		}
	}
	p := &pairFolder{folder: newFolder(o.fsys, Spec{Images: spec.Images}, ".flo", ".txt", ".npy", ".npz")}
	if err := p.find(); err != nil {
		return nil, inFile(spec.Images, err)
	}
	if err := p.peekAll(); err != nil {
		return nil, inFile(spec.Images, err)
	}
	if err := p.group(spec.Pattern); err != nil {
		return nil, inFile(spec.Images, err)
	}
	if err := p.agree(); err != nil {
		return nil, err
	}
	c := p.common
	if err := checkSize(p.t*c.c, c.h, c.w); err != nil {
		return nil, inFile(spec.Images, err)
	}
	d := &sequences{
		root: spec.Images, t: p.t, c: c.c, h: c.h, w: c.w, max: depthMax(c.depth),
		notes: p.notes, tags: func(i int) []string { return slices.Clone(p.pairs[i].tags) }, frames: p.load,
	}
	for _, x := range p.pairs {
		d.ids = append(d.ids, x.id)
	}
	for _, x := range p.paths {
		d.files = append(d.files, p.name(x))
	}
	if spec.Labels != "" {
		labels, names, notes, err := o.labels(spec, d.ids)
		if err != nil {
			return nil, err
		}
		d.labels, d.names, d.notes, d.files = labels, names, append(d.notes, notes...), append(d.files, spec.Labels)
	}
	switch {
	case spec.Targets == none:
	case spec.Targets != "" && !o.isFolder(spec.Targets):
		if err := o.fieldArray(d, spec, spec.Targets); err != nil {
			return nil, err
		}
	default:
		if err := p.truths(o, d, spec); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// peekAll reads the headers of all pages of all files.
func (p *pairFolder) peekAll() error {
	for i, name := range p.paths {
		pics, err := peekPages(p.fsys, p.name(name))
		if err != nil {
			return p.inImage(i, err)
		}
		for k, pic := range pics {
			if !pic.fits(pics[0]) {
				return p.inImage(i, fmt.Errorf(
					"page %d has %s, page 1 has %s: the pages of a stack must agree; remove the page, a preview "+
						"perhaps", k+1, pic, pics[0]))
			}
		}
		p.pages = append(p.pages, pics)
	}
	return nil
}

// group finds which files are the frames of one pair.
func (p *pairFolder) group(pattern string) error {
	many := 0
	for _, pics := range p.pages {
		if len(pics) > 1 {
			many++
		}
	}
	if many > 0 {
		return p.stacks(many)
	}
	if pattern != "" {
		return p.matchPairs(pattern)
	}
	byName, nameErr := p.pairUp(frameOfName)
	byFolder, folderErr := p.pairUp(frameOfFolder)
	switch {
	case nameErr == nil && folderErr == nil:
		return fmt.Errorf("%q and %q may be a pair by their names, or %q and %q by their folders: give a pattern "+
			"with groups named pair and frame",
			p.paths[byName[0].frames[0]], p.paths[byName[0].frames[1]], p.paths[byFolder[0].frames[0]],
			p.paths[byFolder[0].frames[1]])
	case nameErr == nil:
		p.pairs = byName
	case folderErr == nil:
		p.pairs = byFolder
	default:
		return nameErr
	}
	p.t = 2
	return nil
}

// stacks takes every file for a sequence.
func (p *pairFolder) stacks(many int) error {
	if many < len(p.paths) {
		i := slices.IndexFunc(p.pages, func(pics []picture) bool { return len(pics) == 1 })
		return p.inImage(i, fmt.Errorf(
			"has one page, but %d other files have several: a folder has pairs of files or stacks of pages, not "+
				"both; move the others away", many))
	}
	p.t = len(p.pages[0])
	for i, name := range p.paths {
		if len(p.pages[i]) != p.t {
			return fmt.Errorf("image %q has %d pages and %q has %d: all sequences must be of one length; split or "+
				"shorten them", p.paths[0], p.t, name, len(p.pages[i]))
		}
		p.pairs = append(p.pairs, pair{id: stem(p.id(name)), frames: []int{i}, tags: p.tags(name)})
	}
	return nil
}

// frame is what a name says: which pair, and where in time.
type frameName struct {
	pair, token string
	// letters a, b count 0, 1
	at     int
	letter bool
}

// frameEnd is the end of the name of a frame: a number or one of the letters a and b, perhaps after a word.
var frameEnd = regexp.MustCompile(`^(?:(.*?)(?:(?:^|[-_. ])(?:img|image|frame|im|f|t)[-_]?)?)([0-9]{1,9}|[abAB])$`)

// frameOfName reads exp1_001_a.bmp, pair7_img1.tif, rubberwhale/frame10.png.
func frameOfName(p string) (f frameName, ok bool) {
	dir, base := path.Split(stem(p))
	m := frameEnd.FindStringSubmatch(base)
	if m == nil {
		return f, false
	}
	f.token = m[2]
	head := m[1]
	if n, err := strconv.Atoi(f.token); err == nil {
		f.at = n
	} else {
		// A word that ends in a or b is no frame: the letter stands alone or after a mark or a number.
		if before := strings.TrimSuffix(base, f.token); before != "" && !strings.ContainsAny(before[len(before)-1:],
			"-_. 0123456789") {
			return f, false
		}
		f.letter, f.at = true, int(strings.ToLower(f.token)[0]-'a')
	}
	f.pair = strings.TrimSuffix(dir+strings.TrimRight(head, "-_. "), "/")
	return f, true
}

// frameOfFolder reads a/0001.png and img2/x/0001.png: the first folder is the frame.
func frameOfFolder(p string) (f frameName, ok bool) {
	top, rest, ok := strings.Cut(p, "/")
	if !ok {
		return f, false
	}
	f, ok = frameOfName(top)
	if !ok || f.pair != "" {
		return f, false
	}
	f.pair = stem(rest)
	return f, true
}

// pairUp groups the files by what read says of their names. Every group must have two frames that follow each other.
func (p *pairFolder) pairUp(read func(string) (frameName, bool)) ([]pair, error) {
	type member struct {
		frameName
		file int
	}
	const remedy = "frames of a pair are told by the end of their name (a and b, 0 and 1, 1 and 2, img1 and img2): " +
		"rename it, or give a pattern with groups named pair and frame"
	groups := map[string][]member{}
	var order []string
	for i, name := range p.paths {
		f, ok := read(name)
		if !ok {
			return nil, fmt.Errorf("image %q: its name does not say which frame of which pair it is; %s", p.id(name),
				remedy)
		}
		if len(groups[f.pair]) == 0 {
			order = append(order, f.pair)
		}
		groups[f.pair] = append(groups[f.pair], member{f, i})
	}
	slices.Sort(order)
	var pairs []pair
	for _, key := range order {
		g := groups[key]
		slices.SortStableFunc(g, func(a, b member) int { return a.at - b.at })
		if len(g) == 1 {
			return nil, fmt.Errorf("image %q has no partner: %s", p.id(p.paths[g[0].file]), remedy)
		}
		if len(g) > 2 || g[0].letter != g[1].letter || g[1].at != g[0].at+1 {
			return nil, fmt.Errorf(
				"the %d images %q, %q, … differ in the number at their end alone and are no pair of frames that "+
					"follow each other: give a pattern with groups named pair and frame",
				len(g), p.paths[g[0].file], p.paths[g[1].file])
		}
		pairs = append(pairs, p.pair(key, g[0].file, g[1].file))
	}
	return pairs, nil
}

// pair makes a pair of files.
func (p *pairFolder) pair(key string, files ...int) pair {
	if key == "" {
		key = path.Base(strings.ReplaceAll(p.root, `\`, "/"))
	}
	return pair{id: key, frames: files, tags: p.tags(key)}
}

// matchPairs groups the files by a pattern.
func (p *pairFolder) matchPairs(pattern string) error {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	kg, fg := re.SubexpIndex("pair"), re.SubexpIndex("frame")
	if kg < 0 || fg < 0 {
		return fmt.Errorf("pattern %q has no groups named pair and frame: write (?P<pair>...) around what the frames "+
			"of a pair share and (?P<frame>...) around what orders them", pattern)
	}
	type member struct {
		token string
		at    int
		file  int
	}
	groups := map[string][]member{}
	var order []string
	left, first := 0, ""
	numbers := true
	for i, name := range p.paths {
		m := re.FindStringSubmatch(name)
		if m == nil {
			if left == 0 {
				first = name
			}
			left++
			continue
		}
		at, err := strconv.Atoi(m[fg])
		numbers = numbers && err == nil
		if len(groups[m[kg]]) == 0 {
			order = append(order, m[kg])
		}
		groups[m[kg]] = append(groups[m[kg]], member{m[fg], at, i})
	}
	if len(order) == 0 {
		return fmt.Errorf("pattern %q matches none of the %d images, which are named like %q", pattern, len(p.paths),
			p.paths[0])
	}
	if left > 0 {
		p.notes = append(p.notes, fmt.Sprintf("%s: the pattern does not match %d images, which are left out, first %q",
			p.root, left, first))
	}
	slices.Sort(order)
	p.t = len(groups[order[0]])
	for _, key := range order {
		g := groups[key]
		slices.SortStableFunc(g, func(a, b member) int {
			if numbers {
				return a.at - b.at
			}
			return strings.Compare(a.token, b.token)
		})
		var files []int
		for k, m := range g {
			if k > 0 && (m.token == g[k-1].token || numbers && m.at == g[k-1].at) {
				return fmt.Errorf("images %q and %q are the same frame %s of %q by the pattern: narrow it",
					p.paths[g[k-1].file], p.paths[m.file], clip(m.token), key)
			}
			files = append(files, m.file)
		}
		switch {
		case len(g) < 2:
			return fmt.Errorf("image %q has no partner by the pattern: its pair is %q", p.paths[g[0].file], key)
		case len(g) != p.t:
			return fmt.Errorf("%q has %d frames and %q has %d: all sequences must be of one length; narrow the "+
				"pattern or leave files out", order[0], p.t, key, len(g))
		}
		p.pairs = append(p.pairs, p.pair(key, files...))
	}
	return nil
}

// agree settles the size of the frames: those of a pair first, since two files of it disagree, then the pairs among
// each other.
func (p *pairFolder) agree() error {
	var kept []string
	index := map[int]int{}
	for _, x := range p.pairs {
		for _, i := range x.frames {
			if a, b := x.frames[0], i; !p.pages[b][0].fits(p.pages[a][0]) && !p.pages[a][0].fits(p.pages[b][0]) {
				return fmt.Errorf("%s: the frames %q and %q of one pair differ: %s and %s; crop or convert one of them",
					p.root, p.paths[a], p.paths[b], p.pages[a][0], p.pages[b][0])
			}
			index[i] = len(kept)
			kept = append(kept, p.paths[i])
			p.pics = append(p.pics, p.pages[i][0])
		}
	}
	p.common = majority(p.pics)
	for _, x := range p.pairs {
		for _, i := range x.frames {
			if pic := p.pages[i][0]; !pic.fits(p.common) {
				k := slices.IndexFunc(p.pics, func(q picture) bool { return q.fits(p.common) })
				return fmt.Errorf("%s: %q has %s and %q has %s: all pairs must agree; crop or convert them, or keep "+
					"them in folders of their own", p.root, p.paths[i], pic, kept[k], p.common)
			}
		}
	}
	for k := range p.pairs {
		for j, i := range p.pairs[k].frames {
			p.pairs[k].frames[j] = index[i]
		}
	}
	p.paths = kept
	return nil
}

// load decodes the frames of a pair.
func (p *pairFolder) load(i int) (*space.Frames, error) {
	x := p.pairs[i]
	out := &space.Frames{}
	if len(x.frames) == 1 {
		name := p.name(p.paths[x.frames[0]])
		pages, err := loadPages(p.fsys, name, p.common, p.t)
		if err != nil {
			return nil, inFile(name, err)
		}
		out.Images = pages
		return out, nil
	}
	for _, k := range x.frames {
		name := p.name(p.paths[k])
		m, err := loadPicture(p.fsys, name, p.common, 0)
		if err != nil {
			return nil, inFile(name, err)
		}
		out.Images = append(out.Images, m)
	}
	return out, nil
}

// truths finds the field of every pair, beside its frames or in a folder.
func (p *pairFolder) truths(o opener, d *sequences, spec Spec) error {
	root, named := spec.Images, spec.Targets != ""
	if named {
		root = spec.Targets
	}
	if !o.isFolder(root) {
		return nil // a single file
	}
	have := map[string]bool{}
	list := &listing{fsys: o.fsys, root: root}
	if err := list.fieldFiles("", 0, have); err != nil {
		return inFile(root, err)
	}
	found, missing := 0, -1
	for i := range p.pairs {
		x := &p.pairs[i]
		for _, name := range p.candidates(x) {
			if have[name] {
				x.truth = list.name(name)
				delete(have, name)
				break
			}
		}
		if x.truth != "" {
			found++
		} else if missing < 0 {
			missing = i
		}
	}
	if found == 0 {
		if named {
			return fmt.Errorf("%s: no field belongs to the pair %q: want %s", root, p.pairs[0].id, p.want(&p.pairs[0]))
		}
		return nil
	}
	if missing >= 0 {
		return fmt.Errorf("%s: %d of %d pairs have no field, first %q: want %s; add it, leave the pair out, or say "+
			"targets: none",
			root, len(p.pairs)-found, len(p.pairs), p.pairs[missing].id, p.want(&p.pairs[missing]))
	}
	coarse, flagged := 0, 0
	var like *grid
	for _, x := range p.pairs {
		g, err := o.peekField(x.truth, spec.Upward, d.h, d.w, p.name(p.paths[x.frames[0]]))
		if err != nil {
			return inFile(x.truth, err)
		}
		d.files = append(d.files, x.truth)
		if g != nil {
			flagged += g.flagged
			if like == nil {
				like = g
			}
			if !g.full(d.h, d.w) {
				coarse++
				like = g
			}
		}
	}
	if like != nil {
		way := "v points down, as their y rises from line to line"
		switch {
		case spec.Upward != "":
			way = "v points " + spec.Upward + ", as it was said"
		case like.up:
			way = "v points up, as their y falls from line to line"
		}
		d.notes = append(d.notes, fmt.Sprintf("%s: tables of vectors: %s", root, way))
	}
	if coarse > 0 {
		d.notes = append(d.notes,
			fmt.Sprintf("%s: %d fields are coarser than the pixels, such as %d x %d vectors at x from %g to %g and y "+
				"from %g to %g: interpolated bilinearly, the outermost repeated to the edges",
				root, coarse, len(like.x), len(like.y), like.x[0], like.x[len(like.x)-1], like.y[0],
				like.y[len(like.y)-1]))
	}
	if flagged > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%s: %d vectors are marked (replaced or masked) and used as they are",
			root, flagged))
	}
	d.truth = func(i int) (*space.Field, error) {
		f, err := o.loadField(p.pairs[i].truth, spec.Upward, d.h, d.w)
		if err != nil {
			return nil, inFile(p.pairs[i].truth, err)
		}
		return f, nil
	}
	return nil
}

// fieldFiles lists the files below dir that may hold fields.
func (l *listing) fieldFiles(dir string, deep int, have map[string]bool) error {
	entries, err := fs.ReadDir(l.fsys, l.name(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			if deep < maxXMLDeep {
				if err := l.fieldFiles(p, deep+1, have); err != nil {
					return err
				}
			}
		case slices.Contains(fieldEndings(), path.Ext(p)):
			have[p] = true
		}
	}
	return nil
}

// fieldEndings are the endings of files of fields.
func fieldEndings() []string { return []string{".flo", ".txt"} }

// candidates are the paths that the field of a pair may have.
func (p *pairFolder) candidates(x *pair) []string {
	first := stem(p.paths[x.frames[0]])
	dir := path.Dir(first)
	names := []string{
		x.id, x.id + "_flow", x.id + "-flow", x.id + "flow", x.id + "_flo", x.id + "_uv", x.id + "_gt",
		x.id + "_truth", path.Join("flow", x.id),
	}
	if x.id == dir || dir == "." && len(p.pairs) == 1 {
		for _, n := range []string{"flow", "flo", "uv", "gt", "truth"} {
			names = append(names, path.Join(dir, n))
		}
	}
	names = append(names, first, first+"_flow")
	if f, ok := frameOfName(first); ok {
		names = append(names, path.Join(dir, "flow"+f.token))
	}
	var all []string
	for _, n := range names {
		for _, e := range fieldEndings() {
			all = append(all, n+e)
		}
	}
	return all
}

// want says how the field of a pair should be called.
func (p *pairFolder) want(x *pair) string {
	c := p.candidates(x)
	return fmt.Sprintf("%q, %q or %q", c[0], c[2], c[1])
}

// peekField checks what can be said of a field without its numbers; of a table of vectors it returns the grid.
func (o opener) peekField(name, upward string, h, w int, frame string) (*grid, error) {
	differ := func(fh, fw int) error {
		return fmt.Errorf("has %d x %d vectors, but the frame %s has %d x %d px: one vector belongs to each pixel; "+
			"take the field of this pair", fw, fh, frame, w, h)
	}
	if path.Ext(name) == ".flo" {
		f, err := o.fsys.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // only read from
		st, err := f.Stat()
		if err != nil {
			return nil, err
		}
		fh, fw, err := readFloHead(f, st.Size())
		if err == nil && (fh != h || fw != w) {
			err = differ(fh, fw)
		}
		return nil, err
	}
	b, err := readLimited(o.fsys, name, maxPIVText)
	if err != nil {
		return nil, err
	}
	g, err := parseOpenPIV(b, upward)
	if err != nil {
		return nil, err
	}
	return g, g.check(h, w)
}

// loadField reads a field for frames of h x w pixels.
func (o opener) loadField(name, upward string, h, w int) (*space.Field, error) {
	if path.Ext(name) == ".flo" {
		f, err := o.fsys.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // only read from
		st, err := f.Stat()
		if err != nil {
			return nil, err
		}
		field, err := ReadFlo(f, st.Size())
		if err == nil && (field.H != h || field.W != w) {
			err = errors.New("has changed its size since the folder was opened")
		}
		return field, err
	}
	b, err := readLimited(o.fsys, name, maxPIVText)
	if err != nil {
		return nil, err
	}
	g, err := parseOpenPIV(b, upward)
	if err != nil {
		return nil, err
	}
	return g.field(h, w), g.check(h, w)
}

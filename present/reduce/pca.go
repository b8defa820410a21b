package reduce

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"nero/internal/elementary"
)

const (
	blockRows   = 256   // rows that are held column by column for the covariance: 2 KiB a column
	panelBlocks = 8     // blocks between two barriers
	exactSide   = 320   // up to this side a symmetric matrix is decomposed as a whole
	rankTol     = 1e-12 // share of the variance below which a component counts as rounding
	// Columns up to which a covariance is decomposed as a whole where the iteration does not settle.
	maxSquare = 1200
	bigValue  = 1e30       // squares of larger numbers, times rows, would come near the end of float64
	tinyShare = 1e-6       // magnitudes this close count as equal when a sign is chosen
	rowTask   = 512        // rows of a task that goes through rows
	probeSeed = 0x70636173 // start of the iteration for eigenvectors, which does not move what it converges to
)

// principal is a fitted principal component analysis: the mean, and directions of unit length by falling variance.
type principal struct {
	mean []float64
	// k directions of len(mean); the largest loading of each is positive
	vectors [][]float64
	// k variances, divided by the number of rows, not by one less
	values []float64
	// variance over all directions
	total float64
}

// project writes the coordinates of row into dst, which has one place per direction; row is overwritten.
func (p *principal) project(dst, row []float64) {
	for j, m := range p.mean {
		row[j] -= m
	}
	for c, v := range p.vectors {
		dst[c] = dot(row, v)
	}
}

// scores are the coordinates of rows of x, one row of len(p.vectors) after the other.
func (p *principal) scores(ctx context.Context, c *crew, x Matrix, rows []int) ([]float64, error) {
	k, d := len(p.vectors), len(p.mean)
	out := make([]float64, len(rows)*k)
	scratch := zeros(c.workers, d)
	err := c.each(ctx, blocks(len(rows), rowTask), func(w, b int) {
		row := scratch[w]
		lo, hi := span(b, len(rows), rowTask)
		for i := lo; i < hi; i++ {
			x.Row(row, rows[i])
			p.project(out[i*k:(i+1)*k], row)
		}
	})
	return out, err
}

// fitPrincipal finds the first k principal components of the given rows: those with a share of the variance above
// rounding, so possibly fewer. Matrices with few columns go through the covariance, with few rows through the Gram
// matrix of the rows (I. T. Jolliffe, Principal Component Analysis, 2nd ed., Springer 2002, section 3.5: both have the
// same eigenvalues), and the others through a block Krylov iteration on the rows (see topEigen), with the covariance
// where that does not settle and there are not too many columns.
func fitPrincipal(ctx context.Context, c *crew, x Matrix, rows []int, k int) (*principal, error) {
	_, d := x.Dims()
	p := &principal{}
	if len(rows) == 0 {
		p.mean = make([]float64, d)
		return p, nil
	}
	var variances []float64
	var err error
	if p.mean, variances, err = moments(ctx, c, x, rows); err != nil {
		return nil, err
	}
	for _, v := range variances {
		p.total += v
	}
	if p.total == 0 {
		return p, nil
	}
	n := len(rows)
	k = min(k, n, d)
	var pairs eigenpairs
	switch {
	case n <= exactSide && n < d:
		pairs, err = gramEigen(ctx, c, x, rows, p.mean, k)
	case d <= exactSide:
		pairs, err = covarianceEigen(ctx, c, x, rows, p.mean, k)
	default:
		pairs, err = rowsEigen(ctx, c, x, rows, p.mean, k)
		if errors.Is(err, errUnsettled) && d <= maxSquare {
			var cov []float64
			if cov, err = covariance(ctx, c, x, rows, p.mean); err == nil {
				pairs, err = fullEigen(cov, d, k)
			}
		}
		if errors.Is(err, errUnsettled) { // directions that nearly tie: any of them is as good for a picture
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	for i, v := range pairs.values {
		if v/float64(n) > rankTol*p.total {
			fixSign(pairs.vectors[i])
			p.vectors = append(p.vectors, pairs.vectors[i])
			p.values = append(p.values, v/float64(n))
		}
	}
	return p, nil
}

// moments are mean and variance of each column. Sums are taken of differences from the first row, so that rows that are
// all equal have a variance of exactly 0.
func moments(ctx context.Context, c *crew, x Matrix, rows []int) (mean, variance []float64, err error) {
	_, d := x.Dims()
	first := make([]float64, d)
	x.Row(first, rows[0])
	tasks := blocks(len(rows), 16*rowTask)
	sums := make([]float64, tasks*2*d)
	scratch := zeros(c.workers, d)
	if err := c.each(ctx, tasks, func(w, b int) {
		row := scratch[w]
		s, q := sums[2*b*d:(2*b+1)*d], sums[(2*b+1)*d:(2*b+2)*d]
		lo, hi := span(b, len(rows), 16*rowTask)
		for _, i := range rows[lo:hi] {
			x.Row(row, i)
			for j, v := range row {
				v -= first[j]
				s[j] += v
				q[j] += float64(v * v)
			}
		}
	}); err != nil {
		return nil, nil, err
	}
	mean, variance = make([]float64, d), make([]float64, d)
	for b := range tasks {
		for j := range d {
			mean[j] += sums[2*b*d+j]
			variance[j] += sums[(2*b+1)*d+j]
		}
	}
	n := float64(len(rows))
	for j := range d {
		m := mean[j] / n
		variance[j] = max(0, variance[j]/n-float64(m*m))
		mean[j] = first[j] + m
	}
	return mean, variance, nil
}

// covarianceEigen decomposes the covariance times the number of rows.
func covarianceEigen(ctx context.Context, c *crew, x Matrix, rows []int, mean []float64, k int) (eigenpairs, error) {
	cov, err := covariance(ctx, c, x, rows, mean)
	if err != nil {
		return eigenpairs{}, err
	}
	return symmetricEigen(ctx, c, cov, len(mean), k)
}

// covariance is the covariance times the number of rows. Each entry is summed by one worker in the order of the rows.
// It needs 8·d² bytes, and 16 KiB per column for the rows at hand.
func covariance(ctx context.Context, c *crew, x Matrix, rows []int, mean []float64) ([]float64, error) {
	d, n := len(mean), len(rows)
	cov := make([]float64, d*d)
	panel := make([]float64, panelBlocks*blockRows*d)
	scratch := zeros(c.workers, d)
	const tile = 8
	for at := 0; at < n; at += panelBlocks * blockRows {
		now := min(n-at, panelBlocks*blockRows)
		nb := blocks(now, blockRows)
		if err := c.each(ctx, nb, func(w, b int) {
			row := scratch[w]
			block := panel[b*blockRows*d : (b+1)*blockRows*d]
			lo, hi := span(b, now, blockRows)
			for r := lo; r < hi; r++ {
				x.Row(row, rows[at+r])
				for j, v := range row {
					block[j*blockRows+r-lo] = v - mean[j]
				}
			}
			for r := hi - lo; r < blockRows && hi > lo; r++ {
				for j := range d {
					block[j*blockRows+r] = 0
				}
			}
		}); err != nil {
			return nil, err
		}
		tiles := blocks(d, tile)
		if err := c.each(ctx, tiles, func(_, t int) {
			lo, hi := span(tiles-1-t, d, tile) // the longest rows of the lower triangle first
			for b := range nb {
				addProducts(cov, panel[b*blockRows*d:(b+1)*blockRows*d], d, lo, hi)
			}
		}); err != nil {
			return nil, err
		}
		c.tell(float64(at+now) / float64(n))
	}
	for i := range d {
		for j := range i {
			cov[j*d+i] = cov[i*d+j]
		}
	}
	return cov, nil
}

// addProducts adds to the rows lo to hi of the lower triangle of cov the products of the columns of one block, two by
// four at a time, which keeps the partial sums in registers.
func addProducts(cov, block []float64, d, lo, hi int) {
	column := func(j int) []float64 { return block[min(j, d-1)*blockRows:][:blockRows] }
	for i := lo; i < hi; i += 2 {
		a0, a1 := column(i), column(i+1)
		for j := 0; j <= min(i+1, d-1); j += 4 {
			s := products(a0, a1, column(j), column(j+1), column(j+2), column(j+3))
			for u := range min(2, hi-i) {
				for v := range min(4, i+u-j+1) {
					cov[(i+u)*d+j+v] += s[4*u+v]
				}
			}
		}
	}
}

func products(a0, a1, b0, b1, b2, b3 []float64) (s [8]float64) {
	var s00, s01, s02, s03, s10, s11, s12, s13 float64
	n := len(a0)
	a1, b0, b1, b2, b3 = a1[:n], b0[:n], b1[:n], b2[:n], b3[:n]
	for i, u := range a0 {
		v := a1[i]
		w := b0[i]
		s00 += float64(u * w)
		s10 += float64(v * w)
		w = b1[i]
		s01 += float64(u * w)
		s11 += float64(v * w)
		w = b2[i]
		s02 += float64(u * w)
		s12 += float64(v * w)
		w = b3[i]
		s03 += float64(u * w)
		s13 += float64(v * w)
	}
	return [8]float64{s00, s01, s02, s03, s10, s11, s12, s13}
}

// gramEigen decomposes the matrix of the products of the centred rows and carries its eigenvectors over to directions.
func gramEigen(ctx context.Context, c *crew, x Matrix, rows []int, mean []float64, k int) (eigenpairs, error) {
	d, n := len(mean), len(rows)
	all := make([]float64, n*d)
	if err := c.each(ctx, n, func(_, i int) {
		row := all[i*d : (i+1)*d]
		x.Row(row, rows[i])
		for j, m := range mean {
			row[j] -= m
		}
	}); err != nil {
		return eigenpairs{}, err
	}
	gram := make([]float64, n*n)
	if err := c.each(ctx, n, func(_, i int) {
		for j := range n {
			gram[i*n+j] = dot(all[max(i, j)*d:][:d], all[min(i, j)*d:][:d])
		}
	}); err != nil {
		return eigenpairs{}, err
	}
	small, err := symmetricEigen(ctx, c, gram, n, k)
	if err != nil {
		return eigenpairs{}, err
	}
	out := eigenpairs{}
	for i, u := range small.vectors {
		if !(small.values[i] > 1e-14*small.values[0]) {
			break
		}
		v := make([]float64, d)
		for r, s := range u {
			axpy(v, s, all[r*d:(r+1)*d])
		}
		scale(v, 1/norm(v))
		out.vectors, out.values = append(out.vectors, v), append(out.values, small.values[i])
	}
	return out, nil
}

// rowsEigen is the iteration on the rows themselves: each step goes once over the rows and never forms a square matrix.
func rowsEigen(ctx context.Context, c *crew, x Matrix, rows []int, mean []float64, k int) (eigenpairs, error) {
	return topEigen(ctx, rowsOperator(ctx, c, x, rows, mean, k+2), len(mean), k, rand.New(rand.NewPCG(probeSeed, 1)))
}

// rowsOperator multiplies up to b vectors by the covariance times the number of rows, without forming it. It holds
// 128·d·b bytes.
func rowsOperator(ctx context.Context, c *crew, x Matrix, rows []int, mean []float64, b int) operator {
	d, n := len(mean), len(rows)
	const tasks = 16 // fixed: partial sums are added in the order of the tasks
	size := blocks(n, tasks)
	partial := make([]float64, tasks*d*b)
	scratch := zeros(c.workers, d+b)
	return func(dst, src [][]float64) error {
		m := len(src)
		inner := make([]float64, d*m) // the block of vectors with the vectors fastest
		for t, v := range src {
			for j, a := range v {
				inner[j*m+t] = a
			}
		}
		if err := c.each(ctx, tasks, func(w, task int) {
			row, y := scratch[w][:d], scratch[w][d:d+m]
			acc := partial[task*d*b:][:d*m]
			clear(acc)
			lo, hi := min(n, task*size), min(n, (task+1)*size)
			for at, i := range rows[lo:hi] {
				if at%rowTask == 0 && ctx.Err() != nil {
					return
				}
				x.Row(row, i)
				for j, mu := range mean {
					row[j] -= mu
				}
				if m == 4 {
					rankFour(acc, inner, row)
					continue
				}
				clear(y)
				for j, v := range row {
					axpy(y, v, inner[j*m:(j+1)*m])
				}
				for j, v := range row {
					axpy(acc[j*m:(j+1)*m], v, y)
				}
			}
		}); err != nil {
			return err
		}
		for t := range src {
			for j := range d {
				s := 0.0
				for task := range tasks {
					s += partial[task*d*b+j*m+t]
				}
				dst[t][j] = s
			}
		}
		return nil
	}
}

// rankFour adds row·(rowᵀ·V) to acc for four vectors V that are interleaved in inner.
func rankFour(acc, inner, row []float64) {
	var y0, y1, y2, y3 float64
	inner, acc = inner[:4*len(row)], acc[:4*len(row)]
	for j, v := range row {
		q := inner[4*j : 4*j+4 : 4*j+4]
		y0 += float64(v * q[0])
		y1 += float64(v * q[1])
		y2 += float64(v * q[2])
		y3 += float64(v * q[3])
	}
	for j, v := range row {
		q := acc[4*j : 4*j+4 : 4*j+4]
		q[0] += float64(v * y0)
		q[1] += float64(v * y1)
		q[2] += float64(v * y2)
		q[3] += float64(v * y3)
	}
}

// eigenpairs are eigenvalues, falling, with eigenvectors of unit length.
type eigenpairs struct {
	values  []float64
	vectors [][]float64
}

// matrixOperator multiplies by a symmetric matrix of side n. Each product is one worker's.
func matrixOperator(ctx context.Context, c *crew, a []float64, n int) operator {
	return func(dst, src [][]float64) error {
		return c.each(ctx, blocks(n, 64), func(_, b int) {
			lo, hi := span(b, n, 64)
			for i := lo; i < hi; i++ {
				row := a[i*n : (i+1)*n]
				for t, v := range src {
					dst[t][i] = dot(row, v)
				}
			}
		})
	}
}

// symmetricEigen finds the k largest eigenvalues of a symmetric matrix of side n: from a full decomposition of a small
// one, by iteration for a large one, and from the full decomposition where the iteration does not settle.
func symmetricEigen(ctx context.Context, c *crew, a []float64, n, k int) (eigenpairs, error) {
	if n > exactSide && k < n/8 {
		pairs, err := topEigen(ctx, matrixOperator(ctx, c, a, n), n, k, rand.New(rand.NewPCG(probeSeed, 2)))
		if !errors.Is(err, errUnsettled) {
			return pairs, err
		}
	}
	return fullEigen(a, n, k)
}

func fullEigen(a []float64, n, k int) (eigenpairs, error) {
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, a), true) {
		return eigenpairs{},
			errors.New("reduce: the decomposition of the covariance did not converge: the values may span too many " +
				"orders of magnitude; scale the data")
	}
	values := e.Values(nil) // rising
	var q mat.Dense
	e.VectorsTo(&q)
	out := eigenpairs{}
	for i := range min(k, n) {
		at := n - 1 - i
		out.values = append(out.values, values[at])
		out.vectors = append(out.vectors, mat.Col(nil, at, &q))
	}
	return out, nil
}

var errUnsettled = errors.New("reduce: the iteration for the eigenvectors did not settle")

// operator writes the images of the vectors src under a symmetric linear map to dst.
type operator func(dst, src [][]float64) error

func zeros(k, n int) [][]float64 {
	v := make([][]float64, k)
	for i := range v {
		v[i] = make([]float64, n)
	}
	return v
}

func randomBlock(n, k int, r *rand.Rand) [][]float64 {
	v := zeros(k, n)
	for i := range v {
		for j := range v[i] {
			v[i][j] = elementary.Normal(r)
		}
	}
	return v
}

// topEigen finds the k eigenvalues of largest value of a symmetric operator on n numbers that has no large negative
// ones, by a block Krylov iteration with full orthogonalisation and restarts (C. Musco and C. Musco, Randomized block
// Krylov methods for stronger and faster approximate singular value decomposition, NeurIPS 2015). Blocks, unlike single
// vectors, find eigenvalues that come twice, as those of points on a circle do. An eigenpair has settled when ‖Av − λv‖
// ≤ 1e-9 of the largest eigenvalue. Where they do not settle, it returns the best ones with errUnsettled.
func topEigen(ctx context.Context, apply operator, n, k int, r *rand.Rand) (eigenpairs, error) {
	const (
		restarts = 8
		tol      = 1e-9
	)
	b := min(n, k+2)
	size := min(n, max(3*b, 48)) // the most vectors held before a restart
	block := randomBlock(n, b, r)
	var out eigenpairs
	for range restarts {
		var basis, images [][]float64
		for {
			block = orthonormal(basis, block)
			if len(block) == 0 {
				break // the space is closed under the operator
			}
			image := zeros(len(block), n)
			if err := apply(image, block); err != nil {
				return out, err
			}
			basis, images = append(basis, block...), append(images, image...)
			var err error
			var settled bool
			if len(basis) >= min(n, 3*b) {
				if out, settled, err = ritz(basis, images, k, tol); err != nil || settled {
					return out, err
				}
			}
			if len(basis) >= size {
				break
			}
			block = block[:0:0]
			for _, v := range image {
				block = append(block, append([]float64(nil), v...))
			}
			if room := size - len(basis); len(block) > room {
				block = block[:room]
			}
			if err := ctx.Err(); err != nil {
				return out, err
			}
		}
		var settled bool
		var err error
		if out, settled, err = ritz(basis, images, min(b, len(basis)), tol); err != nil {
			return out, err
		}
		if settled || len(basis) < size || len(basis) == n {
			out.values, out.vectors = out.values[:min(k, len(out.values))], out.vectors[:min(k, len(out.vectors))]
			return out, nil
		}
		block = out.vectors
		out = eigenpairs{
			values:  out.values[:min(k, len(out.values))],
			vectors: append([][]float64(nil), out.vectors[:min(k, len(out.vectors))]...),
		}
	}
	return out, errUnsettled
}

// ritz finds the k best eigenpairs within the span of basis (orthonormal), whose images are known.
func ritz(basis, images [][]float64, k int, tol float64) (out eigenpairs, settled bool, err error) {
	m := len(basis)
	h := make([]float64, m*m)
	for i := range m {
		for j := range i + 1 {
			v := (dot(basis[i], images[j]) + dot(basis[j], images[i])) / 2
			h[i*m+j], h[j*m+i] = v, v
		}
	}
	small, err := fullEigen(h, m, k)
	if err != nil {
		return out, false, err
	}
	settled = true
	for i, s := range small.vectors {
		v, av := make([]float64, len(basis[0])), make([]float64, len(basis[0]))
		for j, c := range s {
			axpy(v, c, basis[j])
			axpy(av, c, images[j])
		}
		axpy(av, -small.values[i], v)
		if !(norm(av) <= tol*math.Abs(small.values[0])) {
			settled = false
		}
		out.values, out.vectors = append(out.values, small.values[i]), append(out.vectors, v)
	}
	return out, settled, nil
}

// orthonormal makes the vectors of block orthogonal to basis and to each other, of unit length, and drops those that
// are not independent. It changes block.
func orthonormal(basis, block [][]float64) [][]float64 {
	var out [][]float64
	for _, v := range block {
		before := norm(v)
		// twice is enough: Giraud, Langou and Rozloznik, Computers & Mathematics with Applications 50, 2005
		for range 2 {
			for _, set := range [][][]float64{basis, out} {
				for _, q := range set {
					axpy(v, -dot(v, q), q)
				}
			}
		}
		if after := norm(v); after > 1e-10*before {
			scale(v, 1/after)
			out = append(out, v)
		}
	}
	return out
}

// fixSign turns v so that its entry of largest magnitude is positive, the first one of those that are equal up to
// rounding. It says whether it turned v.
func fixSign(v []float64) bool {
	largest := 0.0
	for _, a := range v {
		largest = max(largest, math.Abs(a))
	}
	for _, a := range v {
		if math.Abs(a) >= (1-tinyShare)*largest {
			if a < 0 {
				scale(v, -1)
				return true
			}
			return false
		}
	}
	return false
}

func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i] * b[i])
		s1 += float64(a[i+1] * b[i+1])
		s2 += float64(a[i+2] * b[i+2])
		s3 += float64(a[i+3] * b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// axpy adds s·x to dst.
func axpy(dst []float64, s float64, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] += float64(s * v)
	}
}

func scale(v []float64, s float64) {
	for i := range v {
		v[i] *= s
	}
}

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }

package audittest

import (
	"context"

	"nero/audit"
	"nero/data/space"
)

// Detector finds bright bumps of a picture in 0..255 of one channel: a box of fixed size about every place that is
// brighter than 60 and than all others within 7 pixels, its score from the brightness. Stride is the step between the
// places that it looks at, from the window's own corner on: with 1 it moves with every whole shift. Padded is how far,
// in pixels, the zeros beyond the border reach into the score; 0 for no effect.
func Detector(stride, padded int) audit.Predictor {
	const half, apart, least = 4.0, 7, 60.0
	return audit.PredictFunc(func(_ context.Context, values []space.Value) ([]space.Value, error) {
		out := make([]space.Value, len(values))
		for i, v := range values {
			m, ok := v.(*space.Image)
			if !ok {
				panic("audittest: want a picture")
			}
			found := &space.Boxes{H: float64(m.H), W: float64(m.W)}
			at := func(r, c int) float64 {
				if r < 0 || c < 0 || r >= m.H || c >= m.W {
					return 0
				}
				return m.Pix[r*m.W+c]
			}
			for r := stride / 2; r < m.H; r += stride {
				for c := stride / 2; c < m.W; c += stride {
					x := at(r, c)
					top := x > least
					for dr := -apart / stride * stride; dr <= apart && top; dr += stride {
						for dc := -apart / stride * stride; dc <= apart; dc += stride {
							if y := at(r+dr, c+dc); y > x || y == x && (dr < 0 || dr == 0 && dc < 0) {
								top = false
								break
							}
						}
					}
					if !top {
						continue
					}
					score := x / (x + 100)
					if near := min(r, c, m.H-1-r, m.W-1-c); near < padded {
						score *= float64(near+1) / float64(padded+1)
					}
					found.Items = append(found.Items, space.Box{
						X1: float64(c) + 0.5 - half, Y1: float64(r) + 0.5 - half, X2: float64(c) + 0.5 + half,
						Y2:    float64(r) + 0.5 + half,
						Score: float64(float32(score)),
					})
				}
			}
			out[i] = found
		}
		return out, nil
	})
}

// Drawn is a detector whose boxes are drawn to the middle of the window: each is shown at the share keep of its
// distance from there, as by a model that was trained with objects in the middle alone. With 1 nothing is drawn.
func Drawn(detector audit.Predictor, keep float64) audit.Predictor {
	return audit.PredictFunc(func(ctx context.Context, values []space.Value) ([]space.Value, error) {
		out, err := detector.Predict(ctx, values)
		for _, v := range out {
			b, _, ok := space.Both[*space.Boxes](v, v)
			if !ok {
				panic("audittest: want a detector")
			}
			for i := range b.Items {
				x, y := b.Items[i].Center()
				dx, dy := float64((keep-1)*(x-b.W/2)), float64((keep-1)*(y-b.H/2))
				b.Items[i].X1, b.Items[i].X2 = b.Items[i].X1+dx, b.Items[i].X2+dx
				b.Items[i].Y1, b.Items[i].Y2 = b.Items[i].Y1+dy, b.Items[i].Y2+dy
			}
		}
		return out, err
	})
}

package action

// quintic is the piecewise quintic of support 6 that interpolates: Meijering, Zuiderveld and Viergever, IEEE Trans.
// Image Proc. 8 (1999) 192, table I with α = 3/64, which makes its spectrum flattest at zero. It is twice continuously
// differentiable, needs no prefilter, and reproduces quadratics.
var quintic = interpolation{
	name: Quintic, taps: 6,
	weigh: func(f float64) [maxTaps]float64 {
		const a = 3. / 64
		near := func(x float64) float64 {
			return 1 + float64(x*x*((8*a-5./2)+float64(x*x*((-18*a+45./16)+float64(x*(10*a-21./16))))))
		}
		middle := func(x float64) float64 {
			s := float64(x*(11*a-5./16)) + (-88*a + 45./16)
			s = float64(x*s) + (270*a - 10)
			s = float64(x*s) + (-392*a + 35./2)
			s = float64(x*s) + (265*a - 15)
			return float64(x*s) + (-66*a + 5)
		}
		far := func(x float64) float64 { // a·x⁵ - 14a·x⁴ + ... = a·(x-3)³·(x-2)·(x-3), written without cancellation
			return a * (x - 3) * (x - 3) * (x - 3) * (float64(x*x) - float64(5*x) + 6)
		}
		return [maxTaps]float64{far(f + 2), middle(f + 1), near(f), near(1 - f), middle(2 - f), far(3 - f)}
	},
}

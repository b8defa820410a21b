// Package particle makes pairs of particle pictures, as particle image velocimetry takes them, of flows whose
// displacement is known at every point.
//
// # Coordinates
//
// Points are (x, y) in px, x to the right and y down, from the middle of the picture: pixel (row r, column c) of a
// picture of W columns and H rows has its centre at (c-(W-1)/2, r-(H-1)/2). Mirrors and quarter turns of the picture
// are then sign changes and exchanges of coordinates, which floating-point numbers do exactly. A displacement (u, v) is
// in px a pair: u along x, v along y.
//
// # The truth
//
// A field is given at mid-time. A particle that is at p half-way between the frames is at p-F(p)/2 in the first and at
// p+F(p)/2 in the second (the midpoint rule of first order; particles move on straight lines). By definition, then, the
// displacement at p is F(p), with no error of higher order, and time reversal is exact: exchanging the frames is the
// flow -F, bit for bit.
//
// # Pictures
//
// A particle is a Gaussian spot, integrated over each pixel by the error function; its diameter is the one at e⁻² of
// the middle's brightness, four standard deviations. Brightness follows the profile exp(-8 z²) of a light sheet, z in
// sheet thicknesses from its middle (Raffel et al., Particle Image Velocimetry, 3rd ed., Springer 2018, sections 2.3
// and 8.4). Spots add up; background and noise are added; the sum is rounded and cut to 0..255 once.
//
// # Reproducible bytes
//
// Everything random comes from a PCG generator of (seed, index of the sample). Products are rounded before they are
// added, so that no compiler fuses the two. The functions exp, erf, sin and cos of the standard library may still
// differ in the last bit between processors; displacements then differ by some 1e-14 px and grey levels by 1e-12 before
// rounding, so that the bytes of a picture are the same everywhere unless one of its grey levels lies that near to a
// half.
package particle

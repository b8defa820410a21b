// Package mesh reads shapes in space, OFF, Wavefront OBJ, Stanford PLY and tables of points, and draws points from their surfaces.
//
// Every error names the line or byte, what was expected there and what to do; what a file claims to hold is compared with its size before memory
// is taken.
package mesh

// Mesh is points in space and the triangles between them.
type Mesh struct {
	Points  []float64  // x, y, z of each
	Normals []float64  // of each point, or nil
	Faces   [][3]int32 // triangles of points; polygons are fans of them from their first corner
}

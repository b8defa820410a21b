package view

// Strip puts the elements side by side in the order of the plan; the value goes upward. It takes every orbit.
var Strip = &Layout{
	Name: "strip",
	Doc: "Strips: one mark per element in the order of the plan. Marks at one height are a model whose value does " +
		"not depend on the element.",
	Takes: func(Orbit) bool { return true },
	Order: "elements in the order of the plan",
}

// mostTiles is the most elements that are laid out as tiles.
const mostTiles = 64

// Tiles gives every element of a small finite group a tile.
var Tiles = &Layout{
	Name: "tiles",
	Takes: func(o Orbit) bool {
		return len(o.Elements) > 1 && len(o.Elements) <= mostTiles && o.Group != nil && Whole(o.Group, o.Elements)
	},
	Colored: true, OnPages: true,
}

package render

import "nero/audit/render/html"

// Card is the beginning of the page, as one element for a page of others.
var Card = Format{
	Name: "card", File: "audit.card.html", Doc: "verdict, curve and worst case, for a notebook", Render: html.WriteCard,
}

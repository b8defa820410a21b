// Package planted holds networks whose symmetries are known, because they were built in and nothing was trained: what
// an audit must find, and must not. MODEL_CARDS.md beside it says which they are; laws.json holds how far each law is
// broken, measured before the export.
package planted

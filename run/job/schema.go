package job

import _ "embed" // for the schema

//go:generate go test -run ^TestSchemaFile$ . -update

//go:embed study.schema.json
var schemaText string

// Schema is the JSON Schema (draft 2020-12) of a study file, for editors and other programs. It says everything that
// holds for a field by itself; [ParseStudy] also refuses fields that do not go together.
func Schema() []byte { return []byte(schemaText) }

// Renders a Helm chart as Helm does: Go's templates with the functions of sprig and those that Helm adds to them.
// Usage: go run render.go CHART, with a JSON list of the chart's contexts on stdin; writes a list of what came of each.
package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type result struct {
	Files map[string]string `json:"files,omitempty"`
	Error string            `json:"error,omitempty"`
}

func parse(chart string) *template.Template {
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	// Helm takes them away.
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		must(err)
		return strings.TrimSuffix(string(text), "\n")
	}
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out strings.Builder
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	all.Funcs(functions)
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	must(err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(err)
		template.Must(all.New(filepath.Base(path)).Parse(string(text)))
	}
	return all
}

func render(all *template.Template, context interface{}) result {
	files := map[string]string{}
	for _, one := range all.Templates() {
		// Files that begin so hold definitions alone.
		if !strings.Contains(one.Name(), ".") || strings.HasPrefix(one.Name(), "_") || strings.HasPrefix(one.Name(), "vinyasa.") {
			continue
		}
		var out strings.Builder
		if err := one.Execute(&out, context); err != nil {
			return result{Error: err.Error()}
		}
		files[one.Name()] = out.String()
	}
	return result{Files: files}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var contexts []interface{}
	must(json.NewDecoder(os.Stdin).Decode(&contexts))
	all := parse(os.Args[1])
	results := make([]result, 0, len(contexts))
	for _, context := range contexts {
		results = append(results, render(all, context))
	}
	must(json.NewEncoder(os.Stdout).Encode(results))
}

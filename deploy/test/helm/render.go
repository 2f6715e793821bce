// render CHART VALUES RELEASE: prints what Helm would send to Kubernetes, one JSON document per line. Debian has no Helm package,
// so this renders Go templates with the functions of sprig and the few that are defined here. A missing value is an error,
// as for `helm lint --strict`, and so is a duplicate key.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type object = map[string]interface{}

func main() {
	chartFolder := os.Args[1]
	values := merge(read(filepath.Join(chartFolder, "values.yaml")), read(os.Args[2]))
	chart := read(filepath.Join(chartFolder, "Chart.yaml"))
	context := object{
		"Values":  values,
		"Chart":   object{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
		"Release": object{"Name": os.Args[3], "Namespace": "default", "Service": "Helm"},
	}
	root := template.New("root").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := root.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	root.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(chartFolder, "templates", "*"))
	check("the chart", err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(file, err)
		_, err = root.New(file).Parse(string(text))
		check(file, err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, ".yaml") {
			continue
		}
		var text bytes.Buffer
		check(file, root.ExecuteTemplate(&text, file, context))
		for _, document := range regexp.MustCompile(`(?m)^---$`).Split(text.String(), -1) {
			var parsed object
			check(file+"\n"+document, yaml.UnmarshalStrict([]byte(document), &parsed))
			if len(parsed) == 0 {
				continue
			}
			line, err := json.Marshal(parsed)
			check(file, err)
			fmt.Println(string(line))
		}
	}
}

func read(file string) object {
	text, err := os.ReadFile(file)
	check(file, err)
	var values object
	check(file, yaml.UnmarshalStrict(text, &values))
	return values
}

func merge(into, from object) object {
	for name, value := range from {
		inner, isObject := value.(object)
		known, wasObject := into[name].(object)
		if isObject && wasObject {
			into[name] = merge(known, inner)
		} else {
			into[name] = value
		}
	}
	return into
}

func check(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", what, err)
		os.Exit(1)
	}
}

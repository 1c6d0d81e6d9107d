// Reads requests as strictly as protobuf of Go does, one line each: `set - xHEX` (a FileDescriptorSet) and `parse TYPE xHEX`.
// The answer is a line: `ok`, the message as JSON, or `error: ` and why not.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

var files *protoregistry.Files

func main() {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	for {
		line, err := input.ReadString('\n')
		if err != nil {
			return
		}
		text, err := answer(strings.Fields(line))
		if err != nil {
			text = "error: " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Fprintln(output, text)
		output.Flush()
	}
}

func answer(words []string) (string, error) {
	bytes, err := hex.DecodeString(words[2][1:])
	if err != nil {
		return "", err
	}
	if words[0] == "set" {
		return "ok", load(bytes)
	}
	return parse(words[1], bytes)
}

func load(bytes []byte) error {
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(bytes, set); err != nil {
		return err
	}
	loaded, err := protodesc.NewFiles(set)
	files = loaded
	return err
}

func parse(name string, bytes []byte) (string, error) {
	found, err := files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return "", err
	}
	message := dynamicpb.NewMessage(found.(protoreflect.MessageDescriptor))
	// It refuses a message that lacks a required field, at any depth.
	if err := proto.Unmarshal(bytes, message); err != nil {
		return "", err
	}
	json, err := protojson.MarshalOptions{}.Marshal(message)
	return string(json), err
}

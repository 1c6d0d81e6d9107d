// Reads requests as strictly as protobuf of C++ does, one line each: `set - xHEX` (a FileDescriptorSet) and
// `parse TYPE xHEX`. The answer is a line: `ok`, the message as JSON, or `error: ` and why not.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/wrappers.pb.h>

#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace pb = google::protobuf;

namespace {

struct Errors : pb::DescriptorPool::ErrorCollector {
  std::string text;
  void AddError(const std::string&, const std::string& element, const pb::Message*, ErrorLocation,
                const std::string& message) override {
    text += element + ": " + message + " ";
  }
};

std::unique_ptr<pb::DescriptorPool> pool;
std::unique_ptr<pb::DynamicMessageFactory> factory;

std::string Bytes(const std::string& hex) {
  std::string bytes;
  for (size_t at = 1; at + 1 < hex.size(); at += 2) bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  return bytes;
}

std::string Load(const std::string& bytes) {
  pb::FileDescriptorSet set;
  if (!set.ParseFromString(bytes)) return "error: no FileDescriptorSet";
  factory.reset();
  pool = std::make_unique<pb::DescriptorPool>();
  factory = std::make_unique<pb::DynamicMessageFactory>(pool.get());
  for (const auto& file : set.file()) {
    Errors errors;
    if (pool->BuildFileCollectingErrors(file, &errors) == nullptr) return "error: " + errors.text;
  }
  return "ok";
}

std::string Json(const pb::Message& message);

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

// A library's own JSON leaves groups out, so it serves for single values and for Google's own messages alone.
std::string LibraryJson(const pb::Message& message) {
  std::string json;
  const auto status = pb::util::MessageToJsonString(message, &json);
  return status.ok() ? json : Quoted(status.ToString());
}

// The value of a field, or of one of its items where `index` is not -1.
std::string Value(const pb::Message& message, const pb::FieldDescriptor* field, int index) {
  const auto* reflection = message.GetReflection();
  const bool is_item = index >= 0;
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE)
    return Json(is_item ? reflection->GetRepeatedMessage(message, field, index) : reflection->GetMessage(message, field));
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_ENUM)
    return Quoted((is_item ? reflection->GetRepeatedEnum(message, field, index) : reflection->GetEnum(message, field))->name());
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING) {
    pb::StringValue text;
    pb::BytesValue bytes;
    auto& value = field->type() == pb::FieldDescriptor::TYPE_BYTES ? *bytes.mutable_value() : *text.mutable_value();
    value = is_item ? reflection->GetRepeatedString(message, field, index) : reflection->GetString(message, field);
    return field->type() == pb::FieldDescriptor::TYPE_BYTES ? LibraryJson(bytes) : LibraryJson(text);
  }
  std::string text;
  pb::TextFormat::PrintFieldValueToString(message, field, index, &text);
  const bool is_long = field->cpp_type() == pb::FieldDescriptor::CPPTYPE_INT64 ||
                       field->cpp_type() == pb::FieldDescriptor::CPPTYPE_UINT64;
  return is_long ? Quoted(text) : text;
}

std::string Field(const pb::Message& message, const pb::FieldDescriptor* field) {
  if (!field->is_repeated()) return Value(message, field, -1);
  std::string items;
  for (int index = 0; index < message.GetReflection()->FieldSize(message, field); ++index) {
    if (index > 0) items += ",";
    if (!field->is_map()) {
      items += Value(message, field, index);
      continue;
    }
    const auto& entry = message.GetReflection()->GetRepeatedMessage(message, field, index);
    const auto key = Value(entry, entry.GetDescriptor()->map_key(), -1);
    items += (key[0] == '"' ? key : Quoted(key)) + ":" + Value(entry, entry.GetDescriptor()->map_value(), -1);
  }
  return field->is_map() ? "{" + items + "}" : "[" + items + "]";
}

std::string Json(const pb::Message& message) {
  if (message.GetDescriptor()->full_name().rfind("google.protobuf.", 0) == 0) return LibraryJson(message);
  std::vector<const pb::FieldDescriptor*> set;
  message.GetReflection()->ListFields(message, &set);
  std::string members;
  for (const auto* field : set)
    members += (members.empty() ? "" : ",") + Quoted(field->json_name()) + ":" + Field(message, field);
  return "{" + members + "}";
}

std::string Parse(const std::string& type, const std::string& bytes) {
  const auto* descriptor = pool->FindMessageTypeByName(type);
  if (descriptor == nullptr) return "error: no " + type;
  std::unique_ptr<pb::Message> message(factory->GetPrototype(descriptor)->New());
  if (!message->ParsePartialFromString(bytes)) return "error: these are no bytes of " + type;
  if (!message->IsInitialized()) return "error: lacks " + message->InitializationErrorString();
  return Json(*message);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string command, type, hex;
    words >> command >> type >> hex;
    std::cout << (command == "set" ? Load(Bytes(hex)) : Parse(type, Bytes(hex))) << std::endl;
  }
}

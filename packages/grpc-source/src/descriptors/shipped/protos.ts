/**
 * The `.proto` files that come with this package, by the path that imports them: the same texts as in its folder `proto`,
 * which a bundle does not have beside it.
 */
export const SHIPPED_PROTOS: ReadonlyMap<string, string> = new Map([
  [
    'google/api/annotations.proto',
    `syntax = "proto3";

package google.api;

import "google/api/http.proto";
import "google/protobuf/descriptor.proto";

extend google.protobuf.MethodOptions {
  HttpRule http = 72295728;
}
`,
  ],
  [
    'google/api/field_behavior.proto',
    `syntax = "proto3";

package google.api;

import "google/protobuf/descriptor.proto";

extend google.protobuf.FieldOptions {
  repeated FieldBehavior field_behavior = 1052 [packed = false];
}

enum FieldBehavior {
  FIELD_BEHAVIOR_UNSPECIFIED = 0;
  OPTIONAL = 1;
  REQUIRED = 2;
  OUTPUT_ONLY = 3;
  INPUT_ONLY = 4;
  IMMUTABLE = 5;
  UNORDERED_LIST = 6;
  NON_EMPTY_DEFAULT = 7;
  IDENTIFIER = 8;
}
`,
  ],
  [
    'google/api/http.proto',
    `syntax = "proto3";

package google.api;

message HttpRule {
  string selector = 1;
  oneof pattern {
    string get = 2;
    string put = 3;
    string post = 4;
    string delete = 5;
    string patch = 6;
    CustomHttpPattern custom = 8;
  }
  string body = 7;
  string response_body = 12;
  repeated HttpRule additional_bindings = 11;
}

message CustomHttpPattern {
  string kind = 1;
  string path = 2;
}
`,
  ],
  [
    'google/rpc/error_details.proto',
    `syntax = "proto3";

package google.rpc;

import "google/protobuf/duration.proto";

message ErrorInfo {
  string reason = 1;
  string domain = 2;
  map<string, string> metadata = 3;
}

message RetryInfo {
  google.protobuf.Duration retry_delay = 1;
}

message DebugInfo {
  repeated string stack_entries = 1;
  string detail = 2;
}

message QuotaFailure {
  message Violation {
    string subject = 1;
    string description = 2;
  }
  repeated Violation violations = 1;
}

message PreconditionFailure {
  message Violation {
    string type = 1;
    string subject = 2;
    string description = 3;
  }
  repeated Violation violations = 1;
}

message BadRequest {
  message FieldViolation {
    string field = 1;
    string description = 2;
    string reason = 3;
    LocalizedMessage localized_message = 4;
  }
  repeated FieldViolation field_violations = 1;
}

message RequestInfo {
  string request_id = 1;
  string serving_data = 2;
}

message ResourceInfo {
  string resource_type = 1;
  string resource_name = 2;
  string owner = 3;
  string description = 4;
}

message Help {
  message Link {
    string description = 1;
    string url = 2;
  }
  repeated Link links = 1;
}

message LocalizedMessage {
  string locale = 1;
  string message = 2;
}
`,
  ],
  [
    'google/rpc/status.proto',
    `syntax = "proto3";

package google.rpc;

import "google/protobuf/any.proto";

message Status {
  int32 code = 1;
  string message = 2;
  repeated google.protobuf.Any details = 3;
}
`,
  ],
  [
    'graphql.proto',
    `// Options that put gRPC methods into a GraphQL schema. Import as "graphql.proto".
syntax = "proto3";

package graphql;

import "google/protobuf/descriptor.proto";

// For the Rust gateway that shares these options; not used here.
extend google.protobuf.FileOptions {
  string rust_package = 1079;
}

extend google.protobuf.ServiceOptions {
  GraphqlService service = 1079;
}

extend google.protobuf.FieldOptions {
  GraphqlField field = 1079;
}

extend google.protobuf.MessageOptions {
  GraphqlEntity entity = 1079;
}

extend google.protobuf.MethodOptions {
  GraphqlSchema schema = 1079;
  GraphqlLiveQuery live_query = 1080;
}

// Where the service listens when the source's own options name no endpoint.
message GraphqlService {
  // host:port
  string host = 1;
  // true: plaintext, false: TLS.
  bool insecure = 2;
}

enum GraphqlType {
  QUERY = 0;
  MUTATION = 1;
  // Not a root field: resolves fields whose (graphql.field).resolver names it.
  RESOLVER = 2;
  SUBSCRIPTION = 3;
}

// Exposes the method.
message GraphqlSchema {
  GraphqlType type = 1;
  // The GraphQL field name; empty: the method name in camelCase.
  string name = 2;
  GraphqlRequest request = 3;
  GraphqlResponse response = 4;
}

message GraphqlRequest {
  // Wraps the request message in one argument of this name.
  string name = 1;
  // The request fields that become arguments; empty: all.
  repeated string plucks = 2;
}

message GraphqlResponse {
  // The field is non-null.
  bool required = 1;
  // The response field that is returned in place of the whole message.
  string pluck = 2;
}

message GraphqlField {
  bool required = 1;
  string name = 2;
  // Default value of the argument or input field, written as in GraphQL (quotes may be left out).
  string default = 3;
  bool omit = 4;
  // The name of the RPC that resolves this field: (graphql.schema).name of a RESOLVER or QUERY method.
  string resolver = 5;
  // Federation.
  bool external = 6;
  string requires = 7;
  string provides = 8;
  bool shareable = 9;
  string description = 10;
}

// Makes the message a federation entity.
message GraphqlEntity {
  repeated string keys = 1;
  bool extend = 2;
  bool resolvable = 3;
}

enum LiveQueryStrategy {
  INVALIDATION = 0;
  POLLING = 1;
  HASH_DIFF = 2;
}

enum Volatility {
  VOLATILITY_UNSPECIFIED = 0;
  VERY_HIGH = 1;
  HIGH = 2;
  MEDIUM = 3;
  LOW = 4;
  VERY_LOW = 5;
}

// Makes the query live-capable.
message GraphqlLiveQuery {
  bool enabled = 1;
  // Absent: 100. An explicit 0: no batching.
  optional uint32 throttle_ms = 2;
  // "<EntityType>.<operation>", "*" stands for either part.
  repeated string triggers = 3;
  uint32 max_connections = 4;
  uint32 ttl_seconds = 5;
  LiveQueryStrategy strategy = 6;
  uint32 poll_interval_ms = 7;
  repeated string depends_on = 8;
  Volatility volatility = 50;
}
`,
  ],
  [
    'grpc/health/v1/health.proto',
    `syntax = "proto3";

package grpc.health.v1;

message HealthCheckRequest {
  string service = 1;
}

message HealthCheckResponse {
  enum ServingStatus {
    UNKNOWN = 0;
    SERVING = 1;
    NOT_SERVING = 2;
    SERVICE_UNKNOWN = 3;
  }
  ServingStatus status = 1;
}

service Health {
  rpc Check(HealthCheckRequest) returns (HealthCheckResponse);
  rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse);
}
`,
  ],
  [
    'grpc/reflection/v1/reflection.proto',
    `// v1 and v1alpha have the same messages; only the service's package differs.
syntax = "proto3";

package grpc.reflection.v1;

message ServerReflectionRequest {
  string host = 1;
  oneof message_request {
    string file_by_filename = 3;
    string file_containing_symbol = 4;
    string list_services = 7;
  }
}

message ServerReflectionResponse {
  FileDescriptorResponse file_descriptor_response = 4;
  ListServiceResponse list_services_response = 6;
  ErrorResponse error_response = 7;
}

message FileDescriptorResponse {
  repeated bytes file_descriptor_proto = 1;
}

message ListServiceResponse {
  repeated ServiceResponse service = 1;
}

message ServiceResponse {
  string name = 1;
}

message ErrorResponse {
  int32 error_code = 1;
  string error_message = 2;
}
`,
  ],
])

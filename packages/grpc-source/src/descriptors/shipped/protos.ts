import { GOOGLE_PROTOS } from './google-protos.ts'

/**
 * The `.proto` files that come with this package, by the path that imports them: the same texts as in its folder `proto`,
 * which a bundle does not have beside it.
 */
export const SHIPPED_PROTOS: ReadonlyMap<string, string> = new Map([
  ...GOOGLE_PROTOS,
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

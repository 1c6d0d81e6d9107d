export const USERS_PROTO = `
syntax = "proto3";
package demo.users.v1;
import "graphql.proto";
import "google/protobuf/timestamp.proto";

// Who the shop knows.
service UserService {
  // One user.
  rpc GetUser(GetUserRequest) returns (User) {
    option (graphql.schema) = { type: QUERY name: "user" };
    option (graphql.live_query) = { enabled: true };
  }
  rpc ListUsers(ListUsersRequest) returns (ListUsersResponse) {
    option (graphql.schema) = { name: "users" };
    option (graphql.live_query) = { enabled: true throttle_ms: 100 triggers: ["User.create", "User.update"] };
  }
  rpc CreateUser(CreateUserRequest) returns (User) {
    option (graphql.schema) = { type: MUTATION name: "createUser" request { name: "input" } };
  }
  rpc DeleteUser(GetUserRequest) returns (DeleteUserResponse) {
    option (graphql.schema) = { type: MUTATION };
  }
  rpc WatchUsers(ListUsersRequest) returns (stream User) {
    option (graphql.schema) = { type: SUBSCRIPTION name: "userEvents" };
  }
  rpc GetInternal(GetUserRequest) returns (User);
}

enum UserStatus {
  USER_STATUS_UNSPECIFIED = 0;
  USER_STATUS_ONLINE = 1;
  USER_STATUS_OFFLINE = 2;
}

// A person.
message User {
  string id = 1 [(graphql.field) = { required: true }];
  // The full name.
  string name = 2;
  UserStatus status = 3;
  int64 account_number = 4;
  repeated string tags = 5;
  Address address = 6;
  google.protobuf.Timestamp created_at = 7;
  string secret = 8 [(graphql.field).omit = true];
}
message Address { string city = 1; }
message GetUserRequest { string id = 1 [(graphql.field).required = true]; }
message ListUsersRequest { UserStatus status = 1; int32 limit = 2 [(graphql.field) = { default: "10" }]; }
message ListUsersResponse { repeated User users = 1; int32 total_count = 2; }
message CreateUserRequest { string name = 1; Address address = 2; }
message DeleteUserResponse { bool success = 1; }
`

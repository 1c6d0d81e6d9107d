// The server of gRPC's interop cases on gRPC C++. Arguments: none, or the paths of a certificate and its key.
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "grpc/testing/test.grpc.pb.h"

// What a handler cannot see otherwise: whether the message that it got was compressed.
uint32_t grpc_call_test_only_get_message_flags(grpc_call* call);

namespace {

using grpc::ServerContext;
using grpc::Status;
using grpc::StatusCode;
using grpc::WriteOptions;
using namespace grpc::testing;

// Bits of those flags, from a header that is not installed: the message is compressed, or was until a filter unpacked it.
constexpr uint32_t kWasCompressed = 0x80000000u | 0x40000000u;

constexpr char kEchoInitial[] = "x-grpc-test-echo-initial";
constexpr char kEchoTrailing[] = "x-grpc-test-echo-trailing-bin";

void Echo(ServerContext* context) {
  const auto& got = context->client_metadata();
  auto initial = got.find(kEchoInitial);
  if (initial != got.end()) {
    context->AddInitialMetadata(kEchoInitial, {initial->second.data(), initial->second.size()});
  }
  auto trailing = got.find(kEchoTrailing);
  if (trailing != got.end()) {
    context->AddTrailingMetadata(kEchoTrailing, {trailing->second.data(), trailing->second.size()});
  }
}

template <typename Request>
Status Asked(const Request& request) {
  if (request.response_status().code() == 0) return Status::OK;
  return Status(static_cast<StatusCode>(request.response_status().code()), request.response_status().message());
}

/** Whether the message came as the request says that it was sent. */
template <typename Request>
bool CameAsExpected(ServerContext* context, const Request& request) {
  if (!request.has_expect_compressed()) return true;
  uint32_t flags = grpc_call_test_only_get_message_flags(context->c_call());
  bool was_compressed = (flags & kWasCompressed) != 0;
  return was_compressed == request.expect_compressed().value();
}

class Service final : public TestService::Service {
 public:
  Status EmptyCall(ServerContext*, const Empty*, Empty*) override { return Status::OK; }

  Status UnaryCall(ServerContext* context, const SimpleRequest* request, SimpleResponse* response) override {
    Echo(context);
    if (!CameAsExpected(context, *request)) return Status(StatusCode::INVALID_ARGUMENT, "compression");
    if (request->response_compressed().value()) context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
    Status asked = Asked(*request);
    if (!asked.ok()) return asked;
    response->mutable_payload()->set_body(std::string(request->response_size(), '\0'));
    return Status::OK;
  }

  Status StreamingOutputCall(ServerContext* context, const StreamingOutputCallRequest* request,
                             grpc::ServerWriter<StreamingOutputCallResponse>* writer) override {
    context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
    return Write(*request, writer);
  }

  Status StreamingInputCall(ServerContext* context, grpc::ServerReader<StreamingInputCallRequest>* reader,
                            StreamingInputCallResponse* response) override {
    StreamingInputCallRequest request;
    int sum = 0;
    while (reader->Read(&request)) {
      if (!CameAsExpected(context, request)) return Status(StatusCode::INVALID_ARGUMENT, "compression");
      sum += static_cast<int>(request.payload().body().size());
    }
    response->set_aggregated_payload_size(sum);
    return Status::OK;
  }

  Status FullDuplexCall(
      ServerContext* context,
      grpc::ServerReaderWriter<StreamingOutputCallResponse, StreamingOutputCallRequest>* stream) override {
    Echo(context);
    StreamingOutputCallRequest request;
    while (stream->Read(&request)) {
      Status asked = Asked(request);
      if (!asked.ok()) return asked;
      Write(request, stream);
    }
    return Status::OK;
  }

 private:
  template <typename Stream>
  static Status Write(const StreamingOutputCallRequest& request, Stream* stream) {
    for (const auto& one : request.response_parameters()) {
      std::this_thread::sleep_for(std::chrono::microseconds(one.interval_us()));
      StreamingOutputCallResponse response;
      response.mutable_payload()->set_body(std::string(one.size(), '\0'));
      WriteOptions options;
      if (!one.compressed().value()) options.set_no_compression();
      if (!stream->Write(response, options)) return Status::CANCELLED;
    }
    return Status::OK;
  }
};

std::string Read(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  auto credentials = grpc::InsecureServerCredentials();
  if (argc > 2) {
    grpc::SslServerCredentialsOptions options;
    options.pem_key_cert_pairs.push_back({Read(argv[2]), Read(argv[1])});
    credentials = grpc::SslServerCredentials(options);
  }
  Service service;
  int port = 0;
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", credentials, &port);
  builder.RegisterService(&service);
  auto server = builder.BuildAndStart();
  std::cout << "port " << port << std::endl;
  server->Wait();
}

"""The server of gRPC's interop cases on grpcio. Arguments: the folder of the generated messages; a certificate and its key."""

import sys
import time
from concurrent import futures

import grpc

sys.path.insert(0, sys.argv[1])
import empty_pb2  # noqa: E402
import messages_pb2  # noqa: E402

ECHO_INITIAL = "x-grpc-test-echo-initial"
ECHO_TRAILING = "x-grpc-test-echo-trailing-bin"
CODES = {code.value[0]: code for code in grpc.StatusCode}


def payload(size):
    return messages_pb2.Payload(body=bytes(size))


def echo(context):
    for name, value in context.invocation_metadata():
        if name == ECHO_INITIAL:
            context.send_initial_metadata(((name, value),))
        elif name == ECHO_TRAILING:
            context.set_trailing_metadata(((name, value),))


def fail_if_asked(request, context):
    if request.response_status.code:
        context.abort(CODES[request.response_status.code], request.response_status.message)


def empty_call(request, context):
    return empty_pb2.Empty()


def unary_call(request, context):
    if request.response_compressed.value:
        context.set_compression(grpc.Compression.Gzip)
    echo(context)
    fail_if_asked(request, context)
    return messages_pb2.SimpleResponse(payload=payload(request.response_size))


def replies_to(request, context):
    for one in request.response_parameters:
        time.sleep(one.interval_us / 1e6)
        if not one.compressed.value:
            context.disable_next_message_compression()
        yield messages_pb2.StreamingOutputCallResponse(payload=payload(one.size))


def streaming_output_call(request, context):
    if any(one.compressed.value for one in request.response_parameters):
        context.set_compression(grpc.Compression.Gzip)
    yield from replies_to(request, context)


def streaming_input_call(requests, context):
    total = sum(len(request.payload.body) for request in requests)
    return messages_pb2.StreamingInputCallResponse(aggregated_payload_size=total)


def full_duplex_call(requests, context):
    echo(context)
    for request in requests:
        fail_if_asked(request, context)
        yield from replies_to(request, context)


def handler(make, function, request_type):
    return make(function, request_type.FromString, lambda message: message.SerializeToString())


HANDLERS = {
    "EmptyCall": handler(grpc.unary_unary_rpc_method_handler, empty_call, empty_pb2.Empty),
    "UnaryCall": handler(grpc.unary_unary_rpc_method_handler, unary_call, messages_pb2.SimpleRequest),
    "StreamingOutputCall": handler(
        grpc.unary_stream_rpc_method_handler,
        streaming_output_call,
        messages_pb2.StreamingOutputCallRequest,
    ),
    "StreamingInputCall": handler(
        grpc.stream_unary_rpc_method_handler,
        streaming_input_call,
        messages_pb2.StreamingInputCallRequest,
    ),
    "FullDuplexCall": handler(
        grpc.stream_stream_rpc_method_handler,
        full_duplex_call,
        messages_pb2.StreamingOutputCallRequest,
    ),
}


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=32))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("grpc.testing.TestService", HANDLERS),)
    )
    if len(sys.argv) > 3:
        certificate, key = (open(path, "rb").read() for path in sys.argv[2:4])
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, certificate)]))
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(f"port {port}", flush=True)
    server.wait_for_termination()


main()

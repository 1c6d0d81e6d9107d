import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js'

export interface BytesServer {
  readonly address: string
  readonly requests: Uint8Array[]
  /** Connections that calls came over. */
  readonly peers: ReadonlySet<string>
  close(): void
}

/** Answers one method with bytes as they are. */
export async function startBytesServer(
  path: string,
  reply: (request: Uint8Array) => Uint8Array | Promise<Uint8Array>,
): Promise<BytesServer> {
  const requests: Uint8Array[] = []
  const peers = new Set<string>()
  const asIs = (bytes: Uint8Array): Buffer => Buffer.from(bytes)
  const answer = async (request: Uint8Array, callback: sendUnaryData<Uint8Array>): Promise<void> => {
    callback(null, await reply(request))
  }
  const server = new Server({ 'grpc.max_concurrent_streams': 100 })
  server.addService(
    {
      call: {
        path,
        requestStream: false,
        responseStream: false,
        requestSerialize: asIs,
        requestDeserialize: asIs,
        responseSerialize: asIs,
        responseDeserialize: asIs,
      },
    },
    {
      call(call: ServerUnaryCall<Uint8Array, Uint8Array>, callback: sendUnaryData<Uint8Array>) {
        requests.push(call.request)
        peers.add(call.getPeer())
        void answer(call.request, callback)
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  return { address: `127.0.0.1:${port}`, requests, peers, close: () => server.forceShutdown() }
}

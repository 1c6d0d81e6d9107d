// A server of its own process, to be stopped with SIGSTOP.
import { Server, ServerCredentials } from '@grpc/grpc-js'

const asIs = (bytes) => bytes
const server = new Server()
server.addService(
  {
    get: {
      path: '/r.S/Get',
      requestStream: false,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    },
  },
  { get: (_call, callback) => callback(null, Buffer.alloc(0)) },
)
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, port) => {
  process.stdout.write(`listening on ${port}\n`)
})

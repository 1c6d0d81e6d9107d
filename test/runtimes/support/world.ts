import { startGrpcBackend, startRestBackend, type Disposables } from '@vinyasa/test-kit'
import { type Backends, SERVED_PROTO } from './plugins.ts'

/** The backends that the READMEs' examples speak to. */
export async function startBackends(disposables: Disposables): Promise<Backends> {
  const grpc = disposables.use(
    await startGrpcBackend({
      protos: SERVED_PROTO,
      handlers: { 'demo.users.v1.UserService/GetUser': ({ id }) => ({ id, name: 'Ada' }) },
    }),
  )
  const rest = disposables.use(
    await startRestBackend(({ method, json }) =>
      method === 'POST' ? { json: { id: '2', ...json() } } : { json: { id: '1', name: 'Ada' } },
    ),
  )
  return { grpc: grpc.address, rest: rest.url }
}

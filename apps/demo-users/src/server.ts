import { readFileSync } from 'node:fs'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import { UserServiceService } from './gen/demo/users/v1/users.ts'
import { addReflection } from './reflection.ts'
import { keepUsers, readUsers } from './state-file.ts'
import { createUserService } from './user-service.ts'
import { createUserStore } from './user-store.ts'

const SERVICE = 'demo.users.v1.UserService'
const DESCRIPTORS = new URL('../descriptors.binpb', import.meta.url)

export interface UsersServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** How long profiles take. Default 300. */
  readonly profileDelayMs?: number | undefined
  /** Where changes are kept over a restart. Default: they are forgotten. */
  readonly stateFile?: string | undefined
}

export interface UsersServer {
  readonly host: string
  readonly port: number
  /** Turns unhealthy, ends streams, lets calls under way finish, and cuts what is left after `graceMs`. */
  close(graceMs?: number): Promise<void>
}

export async function startUsersServer(options: UsersServerOptions): Promise<UsersServer> {
  const { host, profileDelayMs, stateFile } = options
  const store = createUserStore(undefined, stateFile === undefined ? undefined : readUsers(stateFile))
  if (stateFile !== undefined) keepUsers(store, stateFile)
  const users = createUserService({ store, profileDelayMs })
  const health = new HealthImplementation({ '': 'SERVING', [SERVICE]: 'SERVING' })
  const server = new Server()
  server.addService(UserServiceService, users.implementation)
  health.addToServer(server)
  addReflection(server, readFileSync(DESCRIPTORS))

  const target = host.includes(':') ? `[${host}]:${options.port}` : `${host}:${options.port}`
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(target, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  return {
    host,
    port,
    async close(graceMs = 2_000) {
      for (const name of ['', SERVICE]) health.setStatus(name, 'NOT_SERVING')
      users.endStreams()
      const timer = setTimeout(() => server.forceShutdown(), graceMs)
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      clearTimeout(timer)
    },
  }
}

import { createTurns } from '@vinyasa/base'
import { buildSchema, parse, type ExecutionArgs } from 'graphql'
import { makeServer } from 'graphql-ws'
import { formatError } from '../store/version.ts'
import { OpenConnection, type ConnectionsOptions, type Opening } from './open-connection.ts'
import { errorsToSend, failed, type ResultStream } from './streams.ts'

/** The protocol's side of a socket that has just opened. */
export type Connect = (opening: Opening) => OpenConnection

/** Speaks graphql-transport-ws on sockets of any library. PROTOCOL.md says what is said. */
export function createConnections(options: ConnectionsOptions): Connect {
  const { onError } = options
  const streams = new WeakMap<object, ResultStream>()
  const anyOperation = { schema: buildSchema('type Query { any: Int }'), document: parse('{ any }') }

  const server = makeServer<Record<string, unknown>, OpenConnection>({
    // Ours stands in the connection: this one cannot be given a clock.
    connectionInitWaitTimeout: 0,
    onConnect: ({ extra, connectionParams }) => extra.initialise(connectionParams),
    // The operation is parsed, validated and started here; graphql-ws runs a stand-in that gives its stream.
    async onSubscribe({ extra }, id, payload) {
      const started = await extra.start(id, { ...payload })
      if (!started || !(Symbol.asyncIterator in started)) return started
      const args = { ...anyOperation }
      streams.set(args, started)
      return args
    },
    execute: takeStream,
    onError: (_context, _id, _payload, errors) => errorsToSend(errors, onError).map(formatError),
  })

  function takeStream(args: ExecutionArgs): ResultStream {
    return streams.get(args) ?? failed(new Error('Only operations that were started can be run.'))
  }

  const shared = { ...options, slices: createTurns() }
  return (opening) => new OpenConnection(server, opening, shared)
}

import type { MessageEncoder } from '../codec/encode.ts'
import { holdRequest } from './held-request.ts'
import type { ExposedMethod } from '../contract/methods.ts'
import type { Callable, CallSite } from './call-site.ts'
import type { Invoker, ReadReply } from './invoker.ts'
import { toRpcError, type RpcErrorOptions } from './rpc-error.ts'
import { GrpcCallError } from '@vinyasa/grpc-transport'
import type { Shapes } from '../contract/shapes.ts'
import { holdsBytes, readFiles } from './uploads.ts'

/** A unary method as generated code describes it. */
export interface TypedMethod<Request, Response> {
  /** `/package.Service/Method` */
  readonly path: string
  readonly requestSerialize: (request: Request) => Uint8Array
  readonly responseDeserialize: (bytes: Buffer) => Response
}

type Arguments = Readonly<Record<string, unknown>>

/** Calls one method with GraphQL arguments and gives GraphQL values. Failures are GraphQL errors. */
export interface MethodRuntime {
  readonly description: string | undefined
  /** The request's bytes; a promise only where the arguments may hold files. @throws GraphQLError BAD_USER_INPUT */
  encode(args: Arguments): Uint8Array | Promise<Uint8Array>
  /** Calls with a request that is encoded already, and reads the reply in a way of one's own. */
  send<T>(request: Uint8Array, site: CallSite, read: ReadReply<T>): Promise<T>
  /** The GraphQL value of a reply. */
  decode(reply: Uint8Array): unknown
  /** One reply to one request, or to the list of requests of a method that takes a stream of them. */
  unary(args: Arguments, site: CallSite): Promise<unknown>
  /** Many replies to one request. */
  stream(args: Arguments, site: CallSite): Promise<AsyncIterableIterator<unknown>>
  /** The response's field that stands for it, or the response. */
  pluck(response: unknown): unknown
}

export function createMethodRuntime(
  method: Pick<ExposedMethod, 'desc' | 'wrapRequest' | 'responsePluck'>,
  options: {
    readonly callable: Callable
    readonly encode: MessageEncoder
    readonly invoker: Invoker
    readonly shapes: Shapes
    readonly errors: RpcErrorOptions
    readonly description: string | undefined
  },
): MethodRuntime {
  const { callable, encode, invoker, shapes, errors, description } = options
  const { desc, wrapRequest, responsePluck } = method
  const mayHoldFiles = holdsBytes(desc.input)
  const output = shapes.message(desc.output)
  const pluckName = output.fields.find((field) => field.desc === responsePluck)?.name
  const isFlag = !output.fields.some(({ inOutput }) => inOutput)

  function toRequest(args: Arguments): Uint8Array | Promise<Uint8Array> {
    return toMessage((wrapRequest === undefined ? args : (args[wrapRequest] ?? {})) as Arguments)
  }

  function toMessage(value: Arguments): Uint8Array | Promise<Uint8Array> {
    return mayHoldFiles ? readFiles(value).then((read) => toBytes(read as Arguments)) : toBytes(value)
  }

  function toBytes(value: Arguments): Uint8Array {
    try {
      return encode(value)
    } catch (error) {
      throw toRpcError(error, errors)
    }
  }

  async function send<T>(request: Uint8Array, site: CallSite, read: ReadReply<T>): Promise<T> {
    try {
      return await invoker.unary(callable, request, site, read)
    } catch (error) {
      throw toRpcError(error, errors)
    }
  }

  /** Many requests, one reply. */
  async function collect(args: Arguments, site: CallSite): Promise<unknown> {
    const values = args[wrapRequest ?? 'requests']
    try {
      // A message without fields is a Boolean.
      const requests = await Promise.all(
        (Array.isArray(values) ? values : []).map((value) =>
          toMessage(typeof value === 'object' ? value : {}),
        ),
      )
      const replies = await invoker.stream(callable, requests, site)
      const reply = await replies.next()
      if (reply.done) throw new GrpcCallError('INTERNAL', 'the call ended without a reply', { wasSent: true })
      // It counts only once the server has said how the call ended.
      const { done } = await replies.next()
      if (done) return reply.value
      await replies.return?.()
      throw new GrpcCallError('UNIMPLEMENTED', 'the server sent more than one reply')
    } catch (error) {
      throw toRpcError(error, errors)
    }
  }

  return {
    description,
    encode: toRequest,
    send,
    decode(reply) {
      try {
        return callable.decode(reply)
      } catch (error) {
        throw toRpcError(error, errors)
      }
    },
    async unary(args, site) {
      if (desc.methodKind === 'client_streaming') return collect(args, site)
      return send(await toRequest(args), site, callable.decode)
    },
    async stream(args, site) {
      try {
        const request = await toRequest(args)
        const held = desc.methodKind === 'bidi_streaming' ? holdRequest(request) : undefined
        const messages = await invoker.stream(callable, held ?? [request], site)
        const iterator: AsyncIterableIterator<unknown> = {
          async next() {
            try {
              const result = await messages.next()
              if (result.done) held?.release()
              return result
            } catch (error) {
              held?.release()
              throw toRpcError(error, errors)
            }
          },
          async return() {
            held?.release()
            return (await messages.return?.()) ?? { done: true, value: undefined }
          },
          [Symbol.asyncIterator]: () => iterator,
        }
        return iterator
      } catch (error) {
        throw toRpcError(error, errors)
      }
    },
    pluck(response) {
      if (pluckName !== undefined) return (response as Readonly<Record<string, unknown>>)[pluckName]
      return isFlag ? true : response
    },
  }
}

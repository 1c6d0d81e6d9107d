import type { MessageEncoder } from '../codec/encode.ts'
import { requestIn, type Arguments, type ExposedMethod } from '../contract/methods.ts'
import type { Callable, CallSite } from './call-site.ts'
import { holdRequest, type Invoker, type ReadReply } from './invoker.ts'
import { toRpcError, type RpcErrorOptions } from './rpc-error.ts'
import { GrpcCallError } from '@vinyasa/grpc-transport'
import type { Shapes } from '../contract/shapes.ts'
import { type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { isFile } from '../mapping/scalars.ts'

/** Whether a message can hold bytes anywhere, so that only such requests are searched for files. */
function holdsBytes(desc: DescMessage, seen: Set<DescMessage> = new Set()): boolean {
  if (seen.has(desc)) return false
  seen.add(desc)
  return desc.fields.some(
    (field) =>
      field.scalar === ScalarType.BYTES || (field.message !== undefined && holdsBytes(field.message, seen)),
  )
}

/** Replaces uploaded files by their contents. */
async function readFiles(value: unknown): Promise<unknown> {
  if (isFile(value)) return new Uint8Array(await value.arrayBuffer())
  if (Array.isArray(value)) return Promise.all(value.map(readFiles))
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || value instanceof Date)
    return value
  const entries = Object.entries(value).map(async ([key, item]) => [key, await readFiles(item)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

/** A unary method as generated code describes it. */
export interface TypedMethod<Request, Response> {
  /** `/package.Service/Method` */
  readonly path: string
  readonly requestSerialize: (request: Request) => Uint8Array
  readonly responseDeserialize: (bytes: Buffer) => Response
}

export interface MethodRuntimeOptions {
  readonly callable: Callable
  readonly encode: MessageEncoder
  readonly invoker: Invoker
  readonly shapes: Shapes
  readonly errors: RpcErrorOptions
  readonly description: string | undefined
  /** The requests of a stream end when its replies do. */
  readonly keepRequestsOpen: boolean
}

/** Calls one method with GraphQL arguments and gives GraphQL values. Failures are GraphQL errors. */
export class MethodRuntime {
  readonly description: string | undefined
  readonly #method: Pick<ExposedMethod, 'desc' | 'wrapRequest'>
  readonly #options: MethodRuntimeOptions
  readonly #mayHoldFiles: boolean
  readonly #pluckName: string | undefined
  readonly #isFlag: boolean

  constructor(
    method: Pick<ExposedMethod, 'desc' | 'wrapRequest' | 'responsePluck'>,
    options: MethodRuntimeOptions,
  ) {
    const { input, output } = method.desc
    const { fields } = options.shapes.message(output)
    this.description = options.description
    this.#method = method
    this.#options = options
    this.#mayHoldFiles = holdsBytes(input)
    this.#pluckName = fields.find((field) => field.desc === method.responsePluck)?.name
    this.#isFlag = !fields.some(({ inOutput }) => inOutput)
  }

  /** The request's bytes; a promise only where the arguments may hold files. @throws GraphQLError BAD_USER_INPUT */
  encode(args: Arguments): Uint8Array | Promise<Uint8Array> {
    return this.#toMessage(requestIn(args, this.#method.wrapRequest))
  }

  /** Calls with a request that is encoded already, and reads the reply in a way of one's own. */
  async send<T>(request: Uint8Array, site: CallSite, read: ReadReply<T>): Promise<T> {
    const { callable, invoker, errors } = this.#options
    try {
      return await invoker.unary(callable, request, site, read)
    } catch (error) {
      throw toRpcError(error, errors)
    }
  }

  /** The GraphQL value of a reply. */
  decode(reply: Uint8Array): unknown {
    const { callable, errors } = this.#options
    try {
      return callable.decode(reply)
    } catch (error) {
      throw toRpcError(error, errors)
    }
  }

  /** One reply to one request, or to the list of requests of a method that takes a stream of them. */
  async unary(args: Arguments, site: CallSite): Promise<unknown> {
    if (this.#method.desc.methodKind === 'client_streaming') return this.#collect(args, site)
    return this.send(await this.encode(args), site, this.#options.callable.decode)
  }

  /** Many replies to one request. */
  async stream(args: Arguments, site: CallSite): Promise<AsyncIterableIterator<unknown>> {
    const { callable, invoker, errors, keepRequestsOpen } = this.#options
    try {
      const request = await this.encode(args)
      const requests = keepRequestsOpen ? holdRequest(request) : [request]
      return await invoker.stream(callable, requests, site, errors)
    } catch (error) {
      throw toRpcError(error, errors)
    }
  }

  /** The response's field that stands for it, or the response. */
  pluck(response: unknown): unknown {
    const name = this.#pluckName
    if (name !== undefined) return (response as Readonly<Record<string, unknown>>)[name]
    return this.#isFlag ? true : response
  }

  #toMessage(value: Arguments): Uint8Array | Promise<Uint8Array> {
    if (!this.#mayHoldFiles) return this.#toBytes(value)
    return readFiles(value).then((read) => this.#toBytes(read as Arguments))
  }

  #toBytes(value: Arguments): Uint8Array {
    const { encode, errors } = this.#options
    try {
      return encode(value)
    } catch (error) {
      throw toRpcError(error, errors)
    }
  }

  /** Many requests, one reply. */
  async #collect(args: Arguments, site: CallSite): Promise<unknown> {
    const { callable, invoker, errors } = this.#options
    const values = args[this.#method.wrapRequest ?? 'requests']
    try {
      // A message without fields is a Boolean.
      const messages = (Array.isArray(values) ? values : []).map((value) =>
        this.#toMessage(typeof value === 'object' ? value : {}),
      )
      const replies = await invoker.stream(callable, await Promise.all(messages), site, errors)
      const reply = await replies.next()
      if (reply.done) throw new GrpcCallError('INTERNAL', 'the call ended without a reply', { wasSent: true })
      // It counts only once the server has said how the call ended.
      const { done } = await replies.next()
      if (done) return reply.value
      await replies.return?.()
      throw new GrpcCallError('UNIMPLEMENTED', 'the server sent more than one response message')
    } catch (error) {
      throw toRpcError(error, errors)
    }
  }
}

import type { MessageEncoder } from './codec/encode.ts'
import type { ExposedMethod } from './methods.ts'
import type { Callable, CallSite, Invoker } from './runtime/invoker.ts'
import { toRpcError, type RpcErrorOptions } from './runtime/rpc-error.ts'
import type { Shapes } from './schema/shapes.ts'
import { holdsBytes, readFiles } from './uploads.ts'

/** A unary method as generated code describes it. */
export interface TypedMethod<Request, Response> {
  /** `/package.Service/Method` */
  readonly path: string
  readonly requestSerialize: (request: Request) => Uint8Array
  readonly responseDeserialize: (bytes: Buffer) => Response
}

/** Calls one method with GraphQL arguments and gives GraphQL values. Failures are GraphQL errors. */
export interface MethodRuntime {
  readonly description: string | undefined
  unary(args: Readonly<Record<string, unknown>>, site: CallSite): Promise<unknown>
  stream(args: Readonly<Record<string, unknown>>, site: CallSite): Promise<AsyncIterableIterator<unknown>>
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

  async function toRequest(args: Readonly<Record<string, unknown>>): Promise<Uint8Array> {
    const value = (wrapRequest === undefined ? args : (args[wrapRequest] ?? {})) as Readonly<
      Record<string, unknown>
    >
    return encode(mayHoldFiles ? ((await readFiles(value)) as Readonly<Record<string, unknown>>) : value)
  }

  return {
    description,
    async unary(args, site) {
      try {
        return await invoker.unary(callable, await toRequest(args), site)
      } catch (error) {
        throw toRpcError(error, errors)
      }
    },
    async stream(args, site) {
      try {
        const messages = await invoker.stream(callable, await toRequest(args), site)
        const iterator: AsyncIterableIterator<unknown> = {
          async next() {
            try {
              return await messages.next()
            } catch (error) {
              throw toRpcError(error, errors)
            }
          },
          return: async () => (await messages.return?.()) ?? { done: true, value: undefined },
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

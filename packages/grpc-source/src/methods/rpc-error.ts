import { fromBinary, toJson, type JsonValue, type Registry } from '@bufbuild/protobuf'
import { NO_PLACE } from '@vinyasa/core'
import { GraphQLError } from 'graphql'
import { reasonOf, withCause } from '../errors.ts'
import { MalformedMessageError, TooManyItemsError } from '../codec/wire-reader.ts'
import { GrpcCallError } from '@vinyasa/grpc-transport'
import { FAULTS } from '../runtime/faults.ts'

const RESPONSE_TOO_LARGE = 'RESPONSE_TOO_LARGE'

/**
 * The backend messages that clients can see. `false`: no messages; each status has a generic message. `caller`: messages of
 * statuses that concern the caller. Infrastructure messages are hidden, because they can name hosts, files or code. `true`: all
 * messages, and decoded `google.rpc` details.
 */
export type ExposeErrors = boolean | 'caller'

export interface RpcErrorOptions {
  readonly exposeErrors: ExposeErrors
  /** Contains `google.rpc.Status` and the message types of details. */
  readonly registry: Registry
}

/** Returns the client's error for a failed call. The status is available in `cause` for logs. */
export function toRpcError(error: unknown, options: RpcErrorOptions): GraphQLError {
  if (error instanceof GraphQLError) return error
  const own = toLimitError(error)
  if (own) return withCause(own, error)
  const { status, message, details } = toCallError(error)
  const { exposeErrors } = options
  const { code, text, isForCaller } = FAULTS[status]
  const isShown = exposeErrors === true || (exposeErrors === 'caller' && isForCaller)
  const decoded = exposeErrors === true && details ? decodeDetails(details, options.registry) : undefined
  return withCause(
    new GraphQLError(isShown && message !== '' ? message : text, {
      extensions: {
        code,
        grpc: { status, ...(decoded && decoded.length > 0 ? { details: decoded } : {}) },
      },
    }),
    error,
  )
}

const TOO_MANY_STREAMS =
  'The limit of open streams to the service is reached. If this client has open streams, close one of them, or try again later.'

/** Returns an error for a limit of this server, which must not be reported as a backend error. */
function toLimitError(error: unknown): GraphQLError | undefined {
  if (error instanceof TooManyItemsError) {
    const limit = error.maxItems
    return new GraphQLError(
      `The reply of the service has more than ${limit} list and map items; request fewer items`,
      {
        extensions: { code: RESPONSE_TOO_LARGE, limit },
      },
    )
  }
  const own = error instanceof GrpcCallError ? error.ownLimit : undefined
  if (!own) return undefined
  if (!('maxBytes' in own)) {
    const text = own.of === 'waiting' ? NO_PLACE.message : TOO_MANY_STREAMS
    return new GraphQLError(text, { extensions: { code: NO_PLACE.code } })
  }
  const limit = own.maxBytes
  const [text, code] =
    own.of === 'reply'
      ? [
          `The reply of the service is larger than ${limit} bytes; request less data, or split the operation`,
          RESPONSE_TOO_LARGE,
        ]
      : [
          `The request to the service exceeds the limit of ${limit} bytes; send smaller arguments, or request fewer items`,
          'BAD_USER_INPUT',
        ]
  return new GraphQLError(text, { extensions: { code, limit } })
}

function toCallError(error: unknown): Pick<GrpcCallError, 'status' | 'message' | 'details'> {
  if (error instanceof GrpcCallError) return error
  const status = error instanceof MalformedMessageError ? 'INTERNAL' : 'UNKNOWN'
  return { status, message: reasonOf(error), details: undefined }
}

function decodeDetails(bytes: Uint8Array, registry: Registry): JsonValue[] | undefined {
  const status = registry.getMessage('google.rpc.Status')
  if (!status) return undefined
  try {
    const decoded = fromBinary(status, bytes) as unknown as {
      details: readonly Parameters<typeof fromBinary>[1][]
    }
    return decoded.details.flatMap((any) =>
      detailToJson(any as unknown as { typeUrl: string; value: Uint8Array }, registry),
    )
  } catch {
    return undefined
  }
}

function detailToJson(
  any: { readonly typeUrl: string; readonly value: Uint8Array },
  registry: Registry,
): JsonValue[] {
  const typeName = any.typeUrl.slice(any.typeUrl.lastIndexOf('/') + 1)
  const desc = registry.getMessage(typeName)
  // Stack traces are never for clients.
  if (!desc || typeName === 'google.rpc.DebugInfo') return []
  const json = toJson(desc, fromBinary(desc, any.value), { registry })
  return [{ '@type': typeName, ...(json as object) } as JsonValue]
}

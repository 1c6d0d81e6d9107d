import { isRecord, parsePeerJson } from '@vinyasa/core'
import type { OperationParams } from '../execution/passes.ts'

export const SUB_PROTOCOL = 'graphql-transport-ws'

/** Close codes of graphql-transport-ws. */
export const CLOSE = {
  badRequest: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  wrongProtocol: 4406,
  initTimeout: 4408,
  idInUse: 4409,
  secondInit: 4429,
  serverFault: 4500,
} as const

type Payload = Readonly<Record<string, unknown>>

export type ClientMessage =
  | { readonly type: 'connection_init' | 'ping' | 'pong'; readonly payload: Payload | undefined }
  | { readonly type: 'subscribe'; readonly id: string; readonly payload: OperationParams }
  | { readonly type: 'complete'; readonly id: string }

/** Ids are stored several times while their operations run. */
const MAX_ID_CHARACTERS = 1_000

/** Returns `undefined` unless the text is a message that clients can send. */
export function readClientMessage(text: string): ClientMessage | undefined {
  let message: unknown
  try {
    message = parsePeerJson(text)
  } catch {
    return undefined
  }
  if (!isRecord(message)) return undefined
  const { type, id, payload } = message
  switch (type) {
    case 'connection_init':
    case 'ping':
    case 'pong':
      return isOptional(payload, isRecord) ? { type, payload: payload ?? undefined } : undefined
    case 'complete':
      return isId(id) ? { type, id } : undefined
    case 'subscribe':
      return isId(id) && isOperation(payload) ? { type, id, payload } : undefined
    default:
      return undefined
  }
}

function isOperation(payload: unknown): payload is OperationParams {
  if (!isRecord(payload)) return false
  const { query, operationName, variables, extensions } = payload
  // As over HTTP, an id can identify the document if `query` is missing.
  return (
    [query, operationName].every((value) => isOptional(value, isText)) &&
    [variables, extensions].every((value) => isOptional(value, isRecord))
  )
}

function isOptional<T>(value: unknown, is: (value: unknown) => value is T): value is T | null | undefined {
  return value === null || value === undefined || is(value)
}

function isId(value: unknown): value is string {
  return isText(value) && value !== '' && value.length <= MAX_ID_CHARACTERS
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

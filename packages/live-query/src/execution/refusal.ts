import { GraphQLError, type ExecutionResult, type GraphQLFormattedError } from 'graphql'
import { toGraphQLError } from '../errors.ts'
import type { Answer } from './answer.ts'

const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  413: 'REQUEST_ENTITY_TOO_LARGE',
  429: 'RATE_LIMITED',
  503: 'SERVICE_UNAVAILABLE',
}

/** Longer texts are pages, not messages. */
const MAX_MESSAGE = 500

/** Whether the response of a hook says no. */
export function isRefusal({ status }: Response): boolean {
  return status >= 300
}

/** Returns what a hook answered in the operation's place, as an HTTP client would read it. */
export async function refusalOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const given = readResult(text)
  if (given && 'data' in given && !isRefusal(response)) return { kind: 'result', result: given }
  if (given?.errors && given.errors.length > 0) return { kind: 'errors', errors: given.errors }
  const { status, statusText } = response
  const isMessage = text !== '' && text.length <= MAX_MESSAGE && !/^\s*[<{[]/.test(text)
  const message = isMessage
    ? text
    : `Expected a GraphQL result, but the server responded with HTTP status ${status} ${statusText}`.trim()
  const code = CODES[status] ?? (status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_REQUEST')
  return { kind: 'errors', errors: [new GraphQLError(message, { extensions: { code } })] }
}

function readResult(text: string): ExecutionResult | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { errors, ...rest } = value as { readonly errors?: unknown }
  const read = Array.isArray(errors) ? errors.filter(isFormatted).map(toGraphQLError) : undefined
  return { ...rest, ...(read && { errors: read }) }
}

function isFormatted(value: unknown): value is GraphQLFormattedError {
  return typeof (value as { readonly message?: unknown } | null)?.message === 'string'
}

import { requestMultipart } from '@vinyasa/test-kit'
import { mergeDeferred } from '../bench/src/merge-deferred.ts'
import { idOf, type Operation } from './operations.ts'
import type { Answer, Way } from './run.ts'

/** One request over HTTP. */
export interface Posted {
  readonly status: number
  readonly headers: Headers
  readonly target: string | undefined
  readonly isRefusedWhole: boolean
  /** One for each operation. */
  readonly answers: readonly Answer[]
}

interface Parameters {
  readonly query?: string
  readonly variables?: object
  readonly documentId?: string
  readonly extensions?: object
}

/** What the request says of an operation. `hashOnly`: what a client of automatic persisted queries sends first. */
function parametersOf({ text, variables }: Operation, way: Way, hashOnly: boolean): Parameters {
  const given = variables && { variables }
  if (way === 'id' || way === 'id by get') return { documentId: `sha256:${idOf(text)}`, ...given }
  if (way === 'apq' || way === 'hash') {
    const extensions = { persistedQuery: { version: 1, sha256Hash: idOf(text) } }
    return { ...(way === 'apq' && !hashOnly && { query: text }), ...given, extensions }
  }
  return { query: text, ...given }
}

/** Sends operations by one of the ways in. */
export async function post(
  endpoint: string,
  operations: readonly Operation[],
  way: Way,
  headers: Readonly<Record<string, string>>,
  hashOnly = false,
): Promise<Posted> {
  const [first = {}] = operations.map((operation) => parametersOf(operation, way, hashOnly))
  switch (way) {
    case 'get':
    case 'id by get':
      return get(endpoint, first, headers)
    case 'multipart':
      return postForParts(endpoint, first, headers)
    case 'batch':
      return postJson(
        endpoint,
        operations.map((operation) => parametersOf(operation, 'post', false)),
        headers,
      )
    case 'post':
    case 'id':
    case 'apq':
    case 'hash':
      return postJson(endpoint, first, headers)
  }
}

async function get(
  endpoint: string,
  { variables, extensions, ...texts }: Parameters,
  headers: Readonly<Record<string, string>>,
): Promise<Posted> {
  const query = new URLSearchParams({
    ...texts,
    ...(variables && { variables: JSON.stringify(variables) }),
    ...(extensions && { extensions: JSON.stringify(extensions) }),
  })
  const target = `${endpoint}?${query.toString()}`
  return read(await fetch(target, { headers: { ...headers, accept: 'application/json' } }), 1, target)
}

async function postJson(
  endpoint: string,
  body: Parameters | readonly Parameters[],
  headers: Readonly<Record<string, string>>,
): Promise<Posted> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
  })
  return read(response, Array.isArray(body) ? body.length : 1, undefined)
}

/** What refuses a batch refuses all of it, with one answer. */
async function read(response: Response, count: number, target: string | undefined): Promise<Posted> {
  const { status, headers } = response
  const text = await response.text()
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    answer = { errors: [{ message: `no JSON: ${text.slice(0, 200)}` }] }
  }
  const answers = Array.isArray(answer) ? (answer as Answer[]) : Array(count).fill(answer as Answer)
  return { status, headers, target, answers, isRefusedWhole: count > 1 && !Array.isArray(answer) }
}

async function postForParts(
  endpoint: string,
  body: Parameters,
  headers: Readonly<Record<string, string>>,
): Promise<Posted> {
  await using response = await requestMultipart(endpoint, {
    body,
    headers: { ...headers, accept: 'multipart/mixed' },
  })
  const answered = new Headers()
  for (const [name, value] of Object.entries(response.headers)) answered.set(name, String(value))
  const { status } = response
  if (response.boundary === undefined) {
    const answer = JSON.parse(await response.text()) as Answer
    return { status, headers: answered, target: undefined, answers: [answer], isRefusedWhole: false }
  }
  const parts = (await response.allParts()).map((part) => part.json() as Record<string, unknown>)
  const errors = parts.flatMap((part) => [
    ...((part['errors'] as Answer['errors']) ?? []),
    ...((part['incremental'] as readonly Answer[] | undefined) ?? []).flatMap(({ errors = [] }) => errors),
  ])
  const extensions = parts[0]?.['extensions'] as Answer['extensions']
  const answer = {
    // What was refused has none.
    ...(parts[0] && 'data' in parts[0] && { data: mergeDeferred(parts) }),
    ...(errors.length > 0 && { errors }),
    ...(extensions && { extensions }),
  }
  return { status, headers: answered, target: undefined, answers: [answer], isRefusedWhole: false }
}

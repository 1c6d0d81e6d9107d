/** Parameters of an operation, in the order in which a client sends them. */
export interface SentParams {
  readonly query: string
  readonly operationName?: string | undefined
  readonly variables?: Readonly<Record<string, unknown>> | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | undefined
}

/** A request as a client sends it, without the headers that depend on the connection. */
export interface CapturedRequest {
  readonly client: string
  /** Key in `libraries` of the library that sends this request. `captured-requests.test.ts` compares the two. */
  readonly library?: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly params: SentParams
}

/** The query of all captured requests. Apollo Client and graphcache add `__typename` to it. */
export const CAPTURED_QUERY = 'query Hello { user(id: "1") { id name } }'

const JSON_TYPE = 'application/json'
const URQL_ACCEPT =
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed'
const APOLLO_ACCEPT = 'application/graphql-response+json,application/json;q=0.9'
const APOLLO_LIBRARY = { clientLibrary: { name: '@apollo/client', version: '4.3.8' } }
/** Headers that `fetch` of Node adds. */
const NODE = { 'accept-language': '*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' }
/** Headers that Chromium adds to a `fetch` of a page from another origin. */
const CHROMIUM = {
  origin: 'https://shop.example',
  referer: 'https://shop.example/',
  'accept-language': 'en-US,en;q=0.9',
  'sec-ch-ua': '"Chromium";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  'sec-fetch-dest': 'empty',
  'sec-fetch-mode': 'cors',
  'sec-fetch-site': 'cross-site',
  'user-agent':
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
}

const query = CAPTURED_QUERY
const operationName = 'Hello'

/** Requests without `library` follow the source code of the client (Apollo iOS 2, Apollo Kotlin 5) or its documentation. */
export const capturedRequests: readonly CapturedRequest[] = [
  {
    client: 'Apollo Client 4',
    library: 'Apollo Client 4, Defer20220824Handler',
    method: 'POST',
    headers: { accept: APOLLO_ACCEPT, 'content-type': JSON_TYPE, ...NODE },
    params: { operationName, variables: {}, extensions: APOLLO_LIBRARY, query },
  },
  {
    client: 'Apollo Client 4, GET',
    library: 'Apollo Client 4, GET',
    method: 'GET',
    headers: { accept: APOLLO_ACCEPT, 'content-type': JSON_TYPE, ...NODE },
    params: { query, operationName, variables: {}, extensions: APOLLO_LIBRARY },
  },
  {
    client: 'Apollo Client 3',
    library: 'Apollo Client 3',
    method: 'POST',
    headers: { accept: '*/*', 'content-type': JSON_TYPE, ...NODE },
    params: { operationName, variables: {}, query },
  },
  {
    client: 'urql, POST',
    library: 'urql with graphcache',
    method: 'POST',
    headers: { accept: URQL_ACCEPT, 'content-type': JSON_TYPE, ...NODE },
    params: { operationName, query },
  },
  {
    client: 'urql, GET',
    library: 'urql, GET',
    method: 'GET',
    headers: { accept: URQL_ACCEPT, 'x-graphql-csrf': '1', ...NODE },
    params: { query, operationName, variables: {} },
  },
  {
    client: 'Relay',
    library: 'Relay',
    method: 'POST',
    headers: { accept: 'multipart/mixed, application/json', 'content-type': JSON_TYPE, ...NODE },
    params: { query },
  },
  {
    client: 'graphql-request',
    library: 'graphql-request',
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json, application/json',
      'content-type': JSON_TYPE,
      ...NODE,
    },
    params: { query, operationName },
  },
  {
    client: 'fetch from a page of another origin',
    method: 'POST',
    headers: { accept: '*/*', 'content-type': JSON_TYPE, ...CHROMIUM },
    params: { query, variables: {} },
  },
  {
    client: 'Apollo Client 4 in a page of another origin',
    method: 'POST',
    headers: { accept: APOLLO_ACCEPT, 'content-type': JSON_TYPE, ...CHROMIUM },
    params: { operationName, variables: {}, extensions: APOLLO_LIBRARY, query },
  },
  {
    client: 'curl, GET',
    method: 'GET',
    headers: { accept: '*/*', 'user-agent': 'curl/8.14.1', 'x-graphql-csrf': '1' },
    params: { query },
  },
  {
    client: 'Apollo iOS',
    method: 'POST',
    headers: {
      accept: 'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json',
      'content-type': JSON_TYPE,
      'apollographql-client-name': 'com.example.shop-apollo-ios',
      'apollographql-client-version': '1.0-1',
      'x-apollo-operation-name': operationName,
      'x-apollo-operation-type': 'query',
      'accept-language': 'en-US,en;q=0.9',
      'user-agent': 'Shop/1 CFNetwork/3826.500.131 Darwin/24.5.0',
    },
    params: {
      operationName,
      variables: {},
      extensions: { clientLibrary: { name: 'apollo-ios', version: '2.4.0' } },
      query,
    },
  },
  {
    client: 'Apollo Kotlin',
    method: 'POST',
    headers: {
      accept: 'multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json',
      'content-type': JSON_TYPE,
      'user-agent': 'okhttp/4.12.0',
    },
    params: {
      operationName,
      variables: {},
      query,
      extensions: { clientLibrary: { name: 'apollo-kotlin', version: '5.0.0' } },
    },
  },
]

/** Returns the path and the body of a captured request. `params` replace parameters of the same name. */
export function messageOf(
  { method, params }: CapturedRequest,
  path: string,
  replaced: Partial<SentParams> = {},
): { readonly path: string; readonly body: string } {
  const sent = { ...params, ...replaced }
  if (method === 'POST') return { path, body: JSON.stringify(sent) }
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(sent))
    if (value !== undefined) search.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  return { path: `${path}?${search}`, body: '' }
}

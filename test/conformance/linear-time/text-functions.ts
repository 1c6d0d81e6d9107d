import type { IncomingMessage } from 'node:http'
import { createRegistry, type Registry, ScalarType, toBinary } from '@bufbuild/protobuf'
import { AnySchema, StringValueSchema, ValueSchema } from '@bufbuild/protobuf/wkt'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import {
  buildSchema,
  type DocumentNode,
  GraphQLError,
  GraphQLString,
  Kind,
  parse,
  type ValueNode,
} from 'graphql'
import * as apq from '../../../apps/gateway/src/access/documents/apq.ts'
import * as persisted from '../../../apps/gateway/src/access/documents/persisted-documents.ts'
import * as tokenPlace from '../../../apps/gateway/src/access/tokens/token-place.ts'
import * as verifier from '../../../apps/gateway/src/access/tokens/token-verifier.ts'
import * as identity from '../../../apps/gateway/src/context/identity.ts'
import * as cors from '../../../apps/gateway/src/http/cors.ts'
import * as pathname from '../../../apps/gateway/src/http/pathname.ts'
import * as gatewayPaths from '../../../apps/gateway/src/http/paths.ts'
import * as requestBody from '../../../apps/gateway/src/http/request-body.ts'
import * as proxies from '../../../apps/gateway/src/http/trusted-proxies.ts'
import * as jsonLimits from '../../../apps/gateway/src/limits/json-limits.ts'
import * as measureOperation from '../../../apps/gateway/src/limits/measure-operation.ts'
import * as scanTokens from '../../../apps/gateway/src/limits/scan-tokens.ts'
import * as lineWriter from '../../../apps/gateway/src/logging/line-writer.ts'
import * as recordedOperation from '../../../apps/gateway/src/observability/operation.ts'
import * as recentErrors from '../../../apps/gateway/src/observability/recent-errors.ts'
import * as clientAddress from '../../../apps/gateway/src/rate-limit/client-address.ts'
import * as errorMessages from '../../../apps/gateway/src/safety/error-messages.ts'
import * as outage from '../../../apps/gateway/src/logging/outage.ts'
import * as escapes from '../../../apps/gateway/src/texts/escapes.ts'
import * as accept from '../../../packages/core/src/accept.ts'
import * as canonical from '../../../packages/core/src/json/values.ts'
import * as scanJson from '../../../packages/core/src/json/scan-json.ts'
import * as stringify from '../../../packages/core/src/json/stringify-slices.ts'
import * as nearest from '../../../packages/core/src/options/check-options.ts'
import { createTurns } from '../../../packages/core/src/time/turns.ts'
import * as deferAccept from '../../../packages/defer-splitter/src/wire/accept.ts'
import * as validation from '../../../packages/core/src/documents/validate-in-one-walk.ts'
import * as withoutTokens from '../../../packages/core/src/documents/without-tokens.ts'
import * as any from '../../../packages/grpc-source/src/codec/any.ts'
import * as scalarCodecs from '../../../packages/grpc-source/src/codec/scalar-codecs.ts'
import * as time from '../../../packages/grpc-source/src/codec/time.ts'
import * as wellKnown from '../../../packages/grpc-source/src/codec/well-known-codecs.ts'
import * as wireReader from '../../../packages/grpc-source/src/codec/wire-reader.ts'
import * as jsonWriter from '../../../packages/grpc-source/src/json/json-writer.ts'
import * as grpcLeaves from '../../../packages/grpc-source/src/json/leaf-writers.ts'
import * as grpcScalars from '../../../packages/grpc-source/src/mapping/scalars.ts'
import * as rpcError from '../../../packages/grpc-source/src/methods/rpc-error.ts'
import * as metadata from '../../../packages/grpc-source/src/runtime/metadata.ts'
import * as grpcStatus from '../../../packages/grpc-transport/src/grpc/status.ts'
import * as wrongProtocol from '../../../packages/grpc-transport/src/grpc/wrong-protocol.ts'
import * as hpack from '../../../packages/grpc-transport/src/http2/hpack-decoder.ts'
import * as replyMetadata from '../../../packages/grpc-transport/src/reply-metadata.ts'
import { GrpcCallError } from '../../../packages/grpc-transport/src/status.ts'
import * as batch from '../../../packages/invalidation/src/bus/batch.ts'
import * as filter from '../../../packages/live-query/src/document/filter.ts'
import * as streamResults from '../../../packages/live-query/src/execution/stream-results.ts'
import * as groupKey from '../../../packages/live-query/src/execution/engine.ts'
import * as handshake from '../../../packages/live-query/src/protocol/handshake.ts'
import * as messages from '../../../packages/live-query/src/protocol/messages.ts'
import * as origins from '../../../packages/live-query/src/protocol/origins.ts'
import * as identifiers from '../../../packages/live-query/src/store/store.ts'
import * as triggers from '../../../packages/live-query/src/triggers/triggers.ts'
import * as handlerRequestTarget from '../../../packages/node-handler/src/http/request-target.ts'
import * as cycle from '../../../packages/node-handler/src/cycle/cycle.ts'
import * as handlerUseUploads from '../../../packages/node-handler/src/uploads/use-uploads.ts'
import * as coreLiterals from '../../../packages/core/src/pipeline/literals.ts'
import * as normalizeDocument from '../../../packages/response-cache/src/document/document-profile.ts'
import * as cacheHeaders from '../../../packages/response-cache/src/http/cache-headers.ts'
import * as cacheCodec from '../../../packages/response-cache/src/redis/codec.ts'
import * as cacheEntry from '../../../packages/response-cache/src/store/entry.ts'
import * as files from '../../../packages/rest-connector/src/bodies/file.ts'
import * as formBody from '../../../packages/rest-connector/src/bodies/form-body.ts'
import * as multipartBody from '../../../packages/rest-connector/src/bodies/multipart-body.ts'
import * as reuse from '../../../packages/rest-connector/src/call/cache/cache-control.ts'
import * as logBodies from '../../../packages/rest-connector/src/call/log-bodies.ts'
import * as cacheKey from '../../../packages/rest-connector/src/http/cache-key.ts'
import * as decode from '../../../packages/rest-connector/src/http/decode.ts'
import * as headerValues from '../../../packages/rest-connector/src/http/header-values.ts'
import * as linkHeader from '../../../packages/rest-connector/src/http/link-header.ts'
import * as upstreamDetails from '../../../packages/rest-connector/src/http/upstream-details.ts'
import { BadStatus } from '../../../packages/rest-connector/src/http/attempt.ts'
import { BadResponse } from '../../../packages/rest-connector/src/http/failures.ts'
import * as restJson from '../../../packages/rest-connector/src/json.ts'
import * as restScalars from '../../../packages/rest-connector/src/json/scalars.ts'
import * as openApiFiles from '../../../packages/rest-connector/src/openapi/files/read-document.ts'
import * as findings from '../../../packages/rest-connector/src/openapi/findings.ts'
import * as links from '../../../packages/rest-connector/src/openapi/links.ts'
import * as names from '../../../packages/rest-connector/src/openapi/names.ts'
import * as openApi from '../../../packages/rest-connector/src/openapi/openapi-document.ts'
import * as operationNames from '../../../packages/rest-connector/src/openapi/operation-names.ts'
import * as describe from '../../../packages/rest-connector/src/openapi/types/describe.ts'
import * as enumNames from '../../../packages/rest-connector/src/openapi/types/enum-names.ts'
import * as typeNames from '../../../packages/rest-connector/src/openapi/types/type-names.ts'
import type { ParameterOptions } from '../../../packages/rest-connector/src/parameters/parameter-options.ts'
import * as style from '../../../packages/rest-connector/src/parameters/style.ts'
import * as retryPolicy from '../../../packages/rest-connector/src/retry/retry-policy.ts'
import * as bodyTemplate from '../../../packages/rest-connector/src/templates/body-template.ts'
import * as headerTemplate from '../../../packages/rest-connector/src/templates/header-template.ts'
import * as pathTemplate from '../../../packages/rest-connector/src/templates/path-template.ts'
import * as queryTemplate from '../../../packages/rest-connector/src/templates/query-template.ts'
import * as template from '../../../packages/rest-connector/src/templates/template.ts'
import * as jsonScalar from '../../../packages/source-kit/src/json/json-scalar.ts'
import * as forwardedHeaders from '../../../packages/source-kit/src/forwarded-headers.ts'
import * as parseInSlices from '../../../packages/source-kit/src/json/parse-in-slices.ts'
import * as resultPath from '../../../packages/source-kit/src/templates/result-path.ts'
import { findSlowness, type Hard, type Reads } from './measure.ts'

/** Limits in bytes. */
const BODY = 1_048_576
/** `maxMessageBytes` of sockets. */
const MESSAGE = 262_144
/** Node's own for all headers of a request, its target included, and undici's for those of a response. */
const HEADER = 16_384
/** `MAX_HEADER_LIST_BYTES` of grpc-transport. */
const GRPC_HEADER = 65_535
/** Broker messages: `MAX_BROKER_BYTES`. */
const BROKER = 1_048_576
/** Above this `known-shapes` does not look for literals. */
const LITERALS = 16_384
/** `scanTokens` refuses longer names, and more tokens in production. */
const NAME = 1_000
const TOKENS = 1_000
/** Backend bodies that are parsed in one turn; longer ones are parsed in slices. */
const REPLY = 131_072
/** A reply that is one number or one string is parsed in one turn, linear: 10 MB, the default limit, take 300 ms. */
const LONG_REPLY = 262_144
/** A name or a reference of a document. Documents are read before the gateway listens. */
const DOCUMENT = 16_384
/** What a REST connector keeps of the body of an error. */
const EXCERPT = 2_048

export interface TextFunction {
  /** From the root of the repository, without `.ts`. */
  readonly file: string
  readonly name: string
  /** Returns what is wrong with its times. */
  findSlowness(): Promise<string[]>
}

type Entry = TextFunction['findSlowness']

export const textFunctions: TextFunction[] = []

function of<Module extends object>(
  file: string,
  _module: Module,
  functions: Partial<Record<keyof Module & string, Entry>>,
): void {
  for (const [name, find] of Object.entries(functions as Record<string, Entry>))
    textFunctions.push({ file, name, findSlowness: find })
}

const UNITS = [
  ...'[{}"\\,;=./%?#: \t\n<~!\'-_@1aA\u0000\u00fc\u4e2d\ud83d',
  '%25',
  '%2e',
  'Did you mean "',
  '{"a":',
  '\\"',
  '\r\n',
  'a=',
  'a,',
  'a;',
  'a.',
  ' a',
  '";',
  ', ,',
  '=";"',
  '<a>;',
  '\\u0000',
  '\u{1f600}',
  '1.',
  '9e',
  '//',
  '/..',
]

/** Characters that JSON escapes, and those of several bytes, count as much as they take of a body. */
function repeat(part: string, length: number): string {
  const cost = /^[ -~]*$/.test(part) ? part.length : Buffer.byteLength(JSON.stringify(part)) - 2
  const text = part.repeat(Math.ceil(length / cost))
  // V8 joins the parts when a text is searched for the first time: that is no work of the function.
  text.includes('\u0001')
  return text
}

const texts: readonly Hard[] = [
  ...UNITS.map(
    (unit): Hard =>
      (length) =>
        repeat(unit, length),
  ),
  ...['\\', '\\"', '1', ' ', 'Did you mean "', '%25', '\u4e2d'].map(
    (unit): Hard =>
      (length) =>
        `"${repeat(unit, length)}`,
  ),
]

/** Values with the texts in them, as JSON brings them. */
const values: readonly Hard<unknown>[] = [
  ...UNITS.filter((_, index) => index % 2 === 0).map(
    (unit): Hard<unknown> =>
      (length) =>
        repeat(unit, length),
  ),
  (length) => ({ [repeat('a"', length)]: 1 }),
  (length) => Array.from({ length: Math.min(length / 4, 50_000) }, (_, index) => index),
  (length) => Array.from({ length: Math.min(length / 20, 50_000) }, () => 'a"\u00fc'.repeat(5)),
  (length) =>
    Object.fromEntries(
      Array.from({ length: Math.min(length / 20, 50_000) }, (_, index) => [`key${index}`, '"']),
    ),
  (length) => {
    let value: unknown = repeat('"', length)
    for (let depth = 0; depth < 90; depth++) value = depth % 2 ? [value] : { a: value }
    return value
  },
  // A long name around many short values.
  (length) => ({
    [repeat('a', length / 2)]: Array.from({ length: Math.min(length / 8, 50_000) }, () => ({ a: 1 })),
  }),
]

function entry<Input>(limit: number, read: Reads<Input>, inputs: readonly Hard<Input>[]): Entry {
  return () => findSlowness(read, inputs, limit)
}
/** One function in several settings. */
function each<Setting>(settings: readonly Setting[], make: (setting: Setting) => Entry): Entry {
  return async () => {
    const found: string[] = []
    for (const setting of settings) found.push(...(await make(setting)()))
    return found
  }
}
const bytes = texts.map(
  (hard): Hard<Buffer> =>
    (length) =>
      Buffer.from(hard(length)).subarray(0, length),
)
const on = (limit: number, read: Reads): Entry => entry(limit, read, texts)
const onValues = (limit: number, read: Reads<unknown>): Entry => entry(limit, read, values)
const onBytes = (limit: number, read: Reads<Buffer>): Entry => entry(limit, read, bytes)

const LIMITS = { maxTokens: TOKENS, maxDepth: 15, maxAliases: 30, maxDirectives: 5, maxDuplicateFields: 30 }
const SOME_FIELDS = Array.from({ length: 200 }, (_, index) => `z${index}`).join(' ')
/** Documents within the limits of `scanTokens`: of many tokens, or with one that is long. */
const DOCUMENTS: readonly Hard[] = [
  ...[
    'z# ',
    'a{z#} ',
    '...F# ',
    '... on T#{z} ',
    '...@skip(if:true){z#} ',
    'f(s:$v,i:#) ',
    'z#(b:{c:"#"}) ',
  ].map((part): Hard => (length) => {
    const most = (TOKENS * 0.9) / (part.match(/\w+|[^\w\s.]|\.{3}/g)?.length ?? 1)
    const count = Math.min(length / part.length, most)
    return `query Q($v:String){${Array.from({ length: count }, (_, index) => part.replaceAll('#', `${index}`)).join('')}z}`
  }),
  ...['\\"', 'Did you mean \\"', 'a', '\\u0000', ' ', '\u4e2d', '\u{1f600}'].map(
    (part): Hard =>
      (length) =>
        `{f(s:"${repeat(part, length * 0.7)}") f(s:${repeat('1', length * 0.3)}) ${SOME_FIELDS}}`,
  ),
  ...['\n', '\r\n', ' \n', 'a\n', '"'].map(
    (part): Hard =>
      (length) =>
        `{f(s:"""${repeat(part, length)}""") ${SOME_FIELDS}}`,
  ),
  ...['\n', '\r', ',', ' ', '#\n', '#'].map(
    (part): Hard =>
      (length) =>
        `{${repeat(part, length)}\n${SOME_FIELDS}}`,
  ),
  (length) => `{f(i:${repeat('9', length)}) ${SOME_FIELDS}}`,
  (length) => `{f(i:1.${repeat('0', length)}e1)}`,
]
const onDocuments = (limit: number, read: Reads): Entry => entry(limit, read, DOCUMENTS)
const schema = buildSchema('type Query { a: Query b: String f(s: String, i: Int): String }')

/** Of documents that were within the limits, parsed before the time counts. */
const parsed: readonly Hard<DocumentNode>[] = DOCUMENTS.map((hard) => (length: number) => {
  try {
    const text = hard(length)
    scanTokens.scanTokens(text, LIMITS)
    return parse(text)
  } catch {
    return parse('{a}')
  }
})

const onParsed = (read: Reads<DocumentNode>, limit = BODY): Entry => entry(limit, read, parsed)

const request = (headers: Record<string, string>, url = '/graphql'): IncomingMessage =>
  ({
    url,
    method: 'GET',
    headers: { host: 'a', ...headers },
    rawHeaders: Object.entries({ host: 'a', ...headers }).flat(),
    socket: { remoteAddress: '127.0.0.1' },
  }) as unknown as IncomingMessage
/** Headers of a client as a plugin sees them. */
const one = (value: string): Pick<Headers, 'get'> => ({ get: () => value })
const logger = { info: () => {} }
const turns = createTurns()
const registry: Registry = createRegistry(AnySchema, StringValueSchema, ValueSchema)

// Clients: targets and headers
const GATEWAY = 'apps/gateway/src'
of('packages/core/src/accept', accept, {
  parseAccept: on(HEADER, accept.parseAccept),
  headerList: on(HEADER, accept.headerList),
  keyedByHeader: on(HEADER, (text) => accept.keyedByHeader(accept.parseAccept)(text)),
})
of('packages/defer-splitter/src/wire/accept', deferAccept, {
  parseMultipartAccept: on(HEADER, (text) => deferAccept.parseMultipartAccept(`multipart/mixed,${text}`)),
  jsonTypeOf: on(HEADER, deferAccept.jsonTypeOf),
  Deliveries: on(HEADER, (text) =>
    new deferAccept.Deliveries({ enabled: true }).named(`multipart/mixed,${text}`),
  ),
})
of('packages/live-query/src/execution/stream-results', streamResults, {
  acceptedAnswers: on(HEADER, (text) => streamResults.acceptedAnswers(`text/event-stream,${text}`)),
  wantsStream: on(HEADER, (text) => streamResults.wantsStream(`text/event-stream,${text}`)),
})
of('packages/live-query/src/execution/stream-results', streamResults, {
  isEventSource: on(HEADER, (text) =>
    streamResults.isEventSource({ method: 'GET', headers: one(text) } as unknown as Request),
  ),
})
of('packages/node-handler/src/http/request-target', handlerRequestTarget, {
  acceptTargets: on(HEADER, (text) => [
    handlerRequestTarget.acceptTargets()(request({}, `/${text}`)),
    handlerRequestTarget.acceptTargets()(request({}, `http://${text}`)),
    handlerRequestTarget.acceptTargets()(request({ host: text })),
  ]),
})
of('packages/node-handler/src/http/request-target', handlerRequestTarget, {
  urlOf: on(HEADER, (text) => handlerRequestTarget.urlOf(request({}), text)),
  lazyUrl: on(
    HEADER,
    (text) => handlerRequestTarget.lazyUrl({ URL } as never, { url: `/${text}` }).searchParams,
  ),
})
of(`${GATEWAY}/http/pathname`, pathname, {
  pathnameOf: on(HEADER, (text) => pathname.pathnameOf(`/${text}`)),
})
of(`${GATEWAY}/http/paths`, gatewayPaths, { isAt: on(HEADER, (text) => gatewayPaths.isAt(text, ['/a'])) })
of(`${GATEWAY}/http/cors`, cors, {
  createOriginList: on(HEADER, cors.createOriginList([/https:\/\/(.*)\.example/, 'https://a.example'])),
})
of(`${GATEWAY}/http/trusted-proxies`, proxies, {
  createTrustedProxies: on(HEADER, (text) => {
    const { addressOf, clean } = proxies.createTrustedProxies(['loopback'])
    const asked = request({ 'x-forwarded-for': text, [`x-forwarded-${text}`]: text })
    return [addressOf(asked), clean(asked)]
  }),
})
of(`${GATEWAY}/rate-limit/client-address`, clientAddress, {
  networkOf: on(HEADER, (text) => clientAddress.networkOf(`:${text}`)),
  createClientAddress: on(HEADER, (text) =>
    clientAddress.createClientAddress(['loopback']).note(request({ 'x-forwarded-for': text })),
  ),
})
of(`${GATEWAY}/access/tokens/token-place`, tokenPlace, {
  tokenOf: on(HEADER, (text) => [
    tokenPlace.tokenOf({ get: (name) => (name === 'cookie' ? text : null) }, { cookie: 'a' }),
    tokenPlace.tokenOf(one(`Bearer ${text}`), {}),
  ]),
})
of(`${GATEWAY}/access/tokens/token-verifier`, verifier, {
  createTokenVerifier: on(
    HEADER,
    verifier.createTokenVerifier({
      issuers: [{ issuer: 'a', audience: 'a', secret: 'a'.repeat(32) }],
      onError: () => {},
    } as never),
  ),
})
of(`${GATEWAY}/context/identity`, identity, {
  claimAt: on(HEADER, (text) => identity.claimAt({ a: text }, 'a.b')),
  textsOf: on(HEADER, identity.textsOf),
})
of(`${GATEWAY}/access/documents/apq`, apq, {
  hashIn: on(BODY, (text) =>
    apq.hashIn({ extensions: { persistedQuery: { version: 1, sha256Hash: text } } }),
  ),
  withText: on(BODY, (text) => apq.withText({ query: text, extensions: { a: text } }, text)),
})
of(`${GATEWAY}/access/documents/persisted-documents`, persisted, {
  idOf: on(HEADER, (text) => persisted.idOf({}, { method: 'GET', url: `/?${text}` } as Request)),
})
of('packages/response-cache/src/store/entry', cacheEntry, {
  matchesEtag: on(HEADER, (text) => cacheEntry.matchesEtag(text, '"a"')),
  etagOf: onBytes(REPLY, (body) => cacheEntry.etagOf({ body })),
  offHeap: on(REPLY, cacheEntry.offHeap),
})
of('packages/response-cache/src/http/cache-headers', cacheHeaders, {
  setCacheHeaders: on(HEADER, (text) =>
    cacheHeaders.setCacheHeaders(
      { method: 'GET', headers: one(text) } as unknown as Request,
      { status: 200, headers: { get: () => text, has: () => false, set: () => {}, delete: () => true } },
      [],
      { varyHeaders: [text], clientMaxAge: true, exposeReasons: true, now: 0 },
    ),
  ),
})
of('packages/live-query/src/protocol/origins', origins, {
  createOriginCheck: on(HEADER, (text) =>
    origins.createOriginCheck([/https:\/\/(.*)\.example/, '*'])({
      headers: { get: () => `https://${text}`, has: () => false } as unknown as Headers,
      encrypted: false,
    }),
  ),
  createOriginRefusal: on(HEADER, (text) =>
    origins.createOriginRefusal(() => {})({ headers: one(text) as Headers, encrypted: false }),
  ),
})
of('packages/live-query/src/protocol/handshake', handshake, {
  handshakeOf: on(HEADER, (text) => handshake.handshakeOf(request({ a: text, host: text }, `/${text}`))),
  requestHeadersOf: on(MESSAGE, (text) =>
    handshake.requestHeadersOf(
      {
        url: '/',
        headers: new Headers(),
        client: '',
        connectionParams: { headers: { a: text, [text]: text } },
      },
      ['a'],
    ),
  ),
})
of('packages/live-query/src/protocol/handshake', handshake, {
  asksForWebSocket: on(HEADER, (text) =>
    handshake.asksForWebSocket(request({ upgrade: text, connection: text }) as never),
  ),
})

// Clients: bodies, messages and what is in them
of('packages/core/src/json/scan-json', scanJson, {
  exceededLimit: onBytes(BODY, (bytes) => scanJson.exceededLimit(bytes, { maxDepth: 100, maxItems: 50_000 })),
  parsePeerJson: on(BODY, scanJson.parsePeerJson),
  parseBrokerJson: onBytes(BROKER, scanJson.parseBrokerJson),
  endOfText: onBytes(BODY, (bytes) => scanJson.endOfText(bytes, 0)),
})
of(`${GATEWAY}/limits/json-limits`, jsonLimits, {
  limitJson: onBytes(BODY, (bytes) => jsonLimits.limitJson(bytes, { maxBodyItems: 50_000 })),
  limitValue: onValues(BODY, (value) => jsonLimits.limitValue(value, { maxBodyItems: 50_000 })),
})
of(`${GATEWAY}/http/request-body`, requestBody, {
  mediaTypeOf: on(HEADER, requestBody.mediaTypeOf),
  readBody: on(BODY, (text) =>
    requestBody.readBody(new Request('http://a/', { method: 'POST', body: text }), 2 * BODY),
  ),
  // `limitJson` comes first: it refuses deep JSON.
  parseJson: onBytes(BODY, (bytes) => {
    jsonLimits.limitJson(bytes, { maxBodyItems: 50_000 })
    return requestBody.parseJson(bytes as never)
  }),
})
of('packages/node-handler/src/cycle/cycle', cycle, {
  areUsual: on(MESSAGE / 4, (text) =>
    cycle.areUsual(JSON.parse(`{"query":"{a}","variables":{"a":${text}}}`)),
  ),
})
of('packages/node-handler/src/uploads/use-uploads', handlerUseUploads, {
  parseOperations: on(BODY, handlerUseUploads.parseOperations),
  parseMap: on(BODY, (text) => handlerUseUploads.parseMap(text, 10)),
  place: on(BODY, (text) => handlerUseUploads.place({ a: { a: null } }, `a.${text}`, {})),
})
of('packages/node-handler/src/uploads/use-uploads', handlerUseUploads, {
  readFormData: onBytes(BODY, (bytes) => {
    const head = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n'
    const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--b--\r\n')])
    return handlerUseUploads.readFormData(body as never, 'multipart/form-data; boundary=b', {
      FormData,
      File,
    } as never)
  }),
})
of('packages/live-query/src/protocol/messages', messages, {
  readClientMessage: on(MESSAGE, messages.readClientMessage),
})
of('packages/live-query/src/execution/engine', groupKey, {
  contextKeyOf: onValues(MESSAGE, (value) => groupKey.contextKeyOf(undefined, ['a'], value)),
  ownKeyOf: onValues(MESSAGE, (value) => groupKey.ownKeyOf(value, () => {})),
  withOwnKey: on(MESSAGE, (text) => groupKey.withOwnKey(text, text)),
  groupKey: onValues(MESSAGE, (value) =>
    groupKey.groupKey({
      schemaNumber: 1,
      text: String(value),
      operationName: undefined,
      variables: { value },
      throttleMs: 0,
      contextKey: '',
    }),
  ),
})
of('packages/core/src/json/values', canonical, {
  canonicalJson: onValues(MESSAGE, (value) => canonical.canonicalJson(value)),
})
of('packages/core/src/json/stringify-slices', stringify, {
  stringifySlices: onValues(REPLY, (value) => [...(stringify.stringifySlices(value) ?? [])].length),
})
of('packages/core/src/options/check-options', nearest, {
  nearestNames: on(NAME, (text) => nearest.nearestNames(text, ['a', 'bc', 'a'.repeat(40)])),
})
of('packages/live-query/src/document/filter', filter, {
  filterOfArguments: onValues(MESSAGE, (value) => filter.filterOfArguments({ value })),
  matchesFilter: onValues(MESSAGE, (value) => filter.matchesFilter({ a: value }, new Map([['a', 'a']]))),
})

// Clients: documents
of(`${GATEWAY}/limits/scan-tokens`, scanTokens, {
  scanTokens: entry(BODY, (text) => scanTokens.scanTokens(text, LIMITS), [...DOCUMENTS, ...texts]),
})
of(`${GATEWAY}/limits/measure-operation`, measureOperation, {
  measureOperation: onParsed((document) => measureOperation.measureOperation(document, LIMITS)),
})
of('packages/core/src/documents/validate-in-one-walk', validation, {
  validateInOneWalk: onParsed((document) => validation.validateInOneWalk(schema, document)),
})
of('packages/core/src/documents/without-tokens', withoutTokens, {
  withoutTokens: onParsed((document) => withoutTokens.withoutTokens(document)),
})
of('packages/response-cache/src/document/document-profile', normalizeDocument, {
  // It prints documents and lexes them again, once for each: a megabyte of escapes takes 40 ms, linear.
  normalizeDocument: onParsed((document) => normalizeDocument.normalizeDocument(document, null), MESSAGE),
})
of('packages/core/src/pipeline/literals', coreLiterals, {
  scanLiterals: entry(LITERALS, coreLiterals.scanLiterals, [...DOCUMENTS, ...texts]),
})
of('packages/core/src/pipeline/literals', coreLiterals, {
  liftLiterals: onDocuments(LITERALS, (text) => {
    const scanned = coreLiterals.scanLiterals(text)
    return scanned && coreLiterals.liftLiterals(text, scanned, schema, parse(text))
  }),
})
of('packages/core/src/pipeline/literals', coreLiterals, {
  errorsIn: onDocuments(LITERALS, (text) => {
    const { loc } = parse(text)
    const errors = [0, 1, 2].map((at) => new GraphQLError('', { source: loc?.source, positions: [at] }))
    return coreLiterals.errorsIn(errors, text, text)
  }),
})
of('packages/live-query/src/triggers/triggers', triggers, {
  isTrigger: on(BODY, triggers.isTrigger),
  matchesTrigger: on(BROKER, (text) =>
    triggers.matchesTrigger('a.b', { entityType: text, operation: text } as never),
  ),
})

// Logs and errors
of(`${GATEWAY}/safety/error-messages`, errorMessages, {
  useErrorMessages: on(BODY, (text) => {
    const { onExecutionResult } = errorMessages.useErrorMessages({ hideSuggestions: true })
    return onExecutionResult?.({ result: { errors: [{ message: `${text}?` }] } } as never)
  }),
})
of(`${GATEWAY}/logging/line-writer`, lineWriter, { quoted: on(HEADER, lineWriter.quoted) })
of(`${GATEWAY}/observability/operation`, recordedOperation, {
  labelOf: on(BODY, recordedOperation.labelOf),
  errorCodesOf: on(BODY, (code) => recordedOperation.errorCodesOf({ errors: [{ extensions: { code } }] })),
})
of(`${GATEWAY}/observability/recent-errors`, recentErrors, {
  createRecentErrors: on(NAME, (text) =>
    recentErrors.createRecentErrors().note({ errors: [{ message: text, path: [text, text] }] }, text),
  ),
  errorsIn: onValues(NAME, (value) => recentErrors.errorsIn({ errors: [value] })),
})
of(`${GATEWAY}/logging/outage`, outage, { withoutSecrets: on(GRPC_HEADER, outage.withoutSecrets) })
of(`${GATEWAY}/texts/escapes`, escapes, {
  printable: on(DOCUMENT, escapes.printable),
  commentOf: on(DOCUMENT, (text) => escapes.commentOf([text])),
  inlineJson: on(DOCUMENT, escapes.inlineJson),
})

// Arguments of REST sources
const CONNECTOR = 'packages/rest-connector/src'
of(`${CONNECTOR}/bodies/file`, files, {
  isBase64: on(BODY, files.isBase64),
  toFile: onValues(BODY, (value) => files.toFile(value, 'a')),
  toSentFile: onValues(BODY, files.toSentFile),
})
of(`${CONNECTOR}/bodies/form-body`, formBody, {
  // Linear, 1 µs an item: 50,000 items, which a body may have, take 50 ms.
  compileForm: onValues(MESSAGE / 4, (value) =>
    formBody.compileForm('a', { b: { style: 'deepObject' } })({ a: value, b: value }),
  ),
})
of(`${CONNECTOR}/bodies/multipart-body`, multipartBody, {
  // Linear, 1.3 µs a part: 50,000 items take 65 ms.
  compileMultipart: onValues(MESSAGE / 4, (value) =>
    multipartBody.compileMultipart('a', 'multipart/form-data', {})({ a: value, [String(value)]: 'a' }),
  ),
})
const STYLES: readonly ParameterOptions[] = [
  { name: 'a', in: 'query', style: 'deepObject' },
  { name: 'a', in: 'query', allowReserved: true },
  { name: 'a', in: 'header', content: 'application/json' },
  { name: 'a', in: 'path', style: 'label' },
]
of(`${CONNECTOR}/parameters/style`, style, {
  // Linear, 1 µs an item, as forms are.
  compileStyle: each(STYLES, (options) => onValues(MESSAGE / 4, style.compileStyle(options))),
  plain: onValues(BODY, style.plain),
})
of(`${CONNECTOR}/templates/path-template`, pathTemplate, {
  compilePath: on(BODY, (text) => pathTemplate.compilePath('/{a}', new Map()).render({ a: text })),
})
of(`${CONNECTOR}/templates/query-template`, queryTemplate, {
  compileQuery: on(BODY, (text) =>
    queryTemplate.compileQuery({ a: '{a}' }, 'comma').render({ a: [text, 'b'] }),
  ),
  pairsOf: on(BODY, (text) => queryTemplate.pairsOf('a', [{ variable: 'a' }], { a: [text] }, 'brackets')),
})
of(`${CONNECTOR}/templates/header-template`, headerTemplate, {
  compileHeaders: on(BODY, (text) => headerTemplate.compileHeaders({ a: 'b{a}' }).render({ a: text })),
  checkedHeader: on(BODY, (text) => headerTemplate.checkedHeader('a', text)),
  isHeaderName: on(BODY, headerTemplate.isHeaderName),
  isHeaderValue: on(BODY, headerTemplate.isHeaderValue),
})
of(`${CONNECTOR}/templates/body-template`, bodyTemplate, {
  compileBody: on(BODY, (text) =>
    bodyTemplate.compileBody('{"a": "b{a}", "c": {a}}', 'application/json').render({ a: text }),
  ),
  argsBody: onValues(BODY, (value) =>
    bodyTemplate.argsBody('application/json', new Set()).render({ a: value }),
  ),
  mediaTypeOf: on(HEADER, bodyTemplate.mediaTypeOf),
  isTextual: on(HEADER, bodyTemplate.isTextual),
})
of(`${CONNECTOR}/templates/template`, template, {
  toText: onValues(BODY, (value) => template.toText(value, 'a')),
  argOf: on(BODY, (text) => template.argOf({ [text]: 1 }, text)),
  encodeText: on(BODY, (text) => template.encodeText(text, 'a')),
})
of(`${CONNECTOR}/json`, restJson, {
  toJson: onValues(BODY, restJson.toJson),
  parseExactJson: on(REPLY, restJson.parseExactJson),
  argumentsText: onValues(MESSAGE, (value) => restJson.argumentsText({ a: value })),
})
of(`${CONNECTOR}/json/scalars`, restScalars, {
  createLongScalar: each(['string', 'number-when-safe'] as const, (mode) =>
    on(BODY, (text) => [
      refused(restScalars.createLongScalar(mode).parseValue)(text),
      restScalars.createLongScalar(mode).parseLiteral(literal(text)),
    ]),
  ),
})
/** An integer of the digits in a text, or the text. */
function literal(text: string): ValueNode {
  return /^\d+$/.test(text) ? { kind: Kind.INT, value: text } : { kind: Kind.STRING, value: text }
}
const wire = (text: string): never =>
  ({ method: 'GET', path: '/', headers: { a: text }, body: text }) as never
of(`${CONNECTOR}/http/cache-key`, cacheKey, {
  cacheKey: onValues(MESSAGE, (value) => cacheKey.cacheKey('a', { a: value }, wire(''), wire(String(value)))),
})

// Replies of REST backends
of(`${CONNECTOR}/http/decode`, decode, {
  parseBody: onBytes(REPLY, (body) =>
    decode.parseBody(200, 'application/json; charset=utf-8', body, { maxItems: 100_000, turns }),
  ),
  decodeBody: on(HEADER, (text) =>
    decode.decodeBody(
      { status: 200, headers: { 'content-encoding': text }, body: Buffer.from('a') },
      1_000,
      undefined,
      {} as never,
    ),
  ),
})
of('packages/source-kit/src/json/json-scalar', jsonScalar, {
  createJsonScalar: onValues(BODY, (value) => jsonScalar.createJsonScalar().parseValue(value)),
  exactLiteral: on(BODY, (text) => jsonScalar.exactLiteral(literal(text))),
  withoutBigInts: onValues(BODY, jsonScalar.withoutBigInts),
})
of('packages/source-kit/src/forwarded-headers', forwardedHeaders, {
  isOfConnection: on(GRPC_HEADER, forwardedHeaders.isOfConnection),
})
of('packages/source-kit/src/json/parse-in-slices', parseInSlices, {
  parseInSlices: entry(
    LONG_REPLY,
    (body) =>
      parseInSlices.parseInSlices(body, {
        maxDepth: 200,
        maxItems: 100_000,
        turns,
        parse: restJson.parseExactJson,
        refuse: () => new Error('limit'),
      }),
    bytes.filter((_, index) => index % 4 === 0),
  ),
})
of(`${CONNECTOR}/http/header-values`, headerValues, {
  parseDirectives: on(HEADER, headerValues.parseDirectives),
  listOf: on(HEADER, headerValues.listOf),
  httpDate: on(HEADER, headerValues.httpDate),
  wholeSeconds: on(HEADER, headerValues.wholeSeconds),
})
of(`${CONNECTOR}/call/cache/cache-control`, reuse, {
  reuseOf: on(HEADER, (text) =>
    reuse.reuseOf(
      {
        status: 200,
        headers: { 'cache-control': text, vary: text, etag: text, expires: text, age: text, date: text },
      } as never,
      1,
      0,
      () => true,
    ),
  ),
})
const HOME = { base: new URL('http://a/'), basePath: '' }
of(`${CONNECTOR}/http/link-header`, linkHeader, {
  nextPageOf: on(HEADER, (text) => linkHeader.nextPageOf(`<${text}>; rel="${text}"`, HOME.base, HOME)),
})
of(`${CONNECTOR}/retry/retry-policy`, retryPolicy, {
  parseRetryAfter: on(HEADER, (text) => retryPolicy.parseRetryAfter(text, 0)),
})
of(`${CONNECTOR}/http/upstream-details`, upstreamDetails, {
  tellFailure: on(HEADER, (text) => {
    const sent = { method: 'GET', path: `/${text}?${text}`, headers: { a: text }, body: undefined }
    const status = new BadStatus(500, {}, `${text.slice(0, EXCERPT)}[redacted]`)
    const response = new BadResponse(`${text.slice(0, EXCERPT)}[redacted]`)
    return [status, response].map((error) =>
      upstreamDetails.tellFailure(HOME, '/', { a: text.slice(1) }, wire(''), sent, error),
    )
  }),
})
of(`${CONNECTOR}/call/log-bodies`, logBodies, {
  createBodyLog: on(REPLY, (text) =>
    [undefined, 'application/x-www-form-urlencoded', 'text/plain'].map((type) =>
      logBodies.createBodyLog(true, logger, {})?.('a', {}, type, text),
    ),
  ),
})

// Arguments and replies of gRPC sources
const GRPC = 'packages/grpc-source/src'
of(`${GRPC}/codec/scalar-codecs`, scalarCodecs, {
  isBase64: on(BODY, scalarCodecs.isBase64),
  shown: onValues(BODY, scalarCodecs.shown),
  wrongValue: onValues(BODY, (value) => scalarCodecs.wrongValue('a', 'b', value)),
  scalarCodecs: onValues(BODY, (value) =>
    [ScalarType.STRING, ScalarType.BYTES, ScalarType.INT64, ScalarType.INT32, ScalarType.BOOL].map(
      refused((scalar) => scalarCodecs.scalarCodecs('string')(scalar).write(new BinaryWriter(), value, 'a')),
    ),
  ),
})
of(`${GRPC}/codec/time`, time, {
  parseTimestamp: onValues(BODY, (value) => time.parseTimestamp(value, 'a')),
  parseDuration: onValues(BODY, (value) => time.parseDuration(value, 'a')),
})
const wellKnownCodec = wellKnown.wellKnownCodecs(registry, scalarCodecs.scalarCodecs('string'))
of(`${GRPC}/codec/well-known-codecs`, wellKnown, {
  wellKnownCodecs: onValues(MESSAGE, (value) =>
    (['FieldMask', 'Value', 'Any', 'StringValue'] as const).map(
      refused((type) => wellKnownCodec(`google.protobuf.${type}`).encode(value, 'a')),
    ),
  ),
})
of(`${GRPC}/codec/any`, any, {
  encodeAny: onValues(MESSAGE, (value) => any.encodeAny({ '@type': String(value), value }, registry)),
  decodeAny: on(REPLY, (text) =>
    any.decodeAny(
      toBinary(AnySchema, { $typeName: AnySchema.typeName, typeUrl: text, value: Buffer.from(text) }),
      registry,
    ),
  ),
})
of(`${GRPC}/codec/wire-reader`, wireReader, {
  WireReader: onBytes(REPLY, (bytes) => {
    const text = new wireReader.WireReader(lengthDelimited(bytes))
    const base64 = new wireReader.WireReader(lengthDelimited(bytes))
    return [text.string(), base64.base64()]
  }),
})
of(`${GRPC}/json/json-writer`, jsonWriter, {
  JsonWriter: onBytes(REPLY, (bytes) => {
    const writer = new jsonWriter.JsonWriter()
    writer.begin(1)
    writer.string(bytes, 0, bytes.length)
    return writer.take()
  }),
  toLiteral: on(REPLY, (text) => jsonWriter.toLiteral(text).length),
})
of(`${GRPC}/json/leaf-writers`, grpcLeaves, {
  leafToJson: on(REPLY, (text) => grpcLeaves.leafToJson(text, GraphQLString)),
})
const SCALARS = ['DateTime', 'Duration', 'Bytes', 'FieldMask', 'UInt32', 'Long', 'BigInt'] as const
of(`${GRPC}/mapping/scalars`, grpcScalars, {
  createScalar: each(SCALARS, (name) =>
    each([false, true], (isLiteral) =>
      onValues(BODY, (value) =>
        isLiteral && typeof value === 'string'
          ? grpcScalars.createScalar(name, name).parseLiteral(literal(value))
          : grpcScalars.createScalar(name, name).parseValue(value),
      ),
    ),
  ),
})
of(`${GRPC}/methods/rpc-error`, rpcError, {
  toRpcError: on(GRPC_HEADER, (text) =>
    rpcError.toRpcError(new GrpcCallError('INTERNAL', text, { details: Buffer.from(text) }), {
      exposeErrors: true,
      registry,
    }),
  ),
})
of(`${GRPC}/runtime/metadata`, metadata, {
  toEntries: on(HEADER, (text) => metadata.toEntries({ a: text, 'a-bin': text })),
})
const TRANSPORT = 'packages/grpc-transport/src'
of(`${TRANSPORT}/grpc/status`, grpcStatus, {
  readStatus: on(GRPC_HEADER, (text) =>
    grpcStatus.readStatus(
      headerList({ 'grpc-status': text.slice(0, 9), 'grpc-message': text, 'grpc-status-details-bin': text }),
      headerList({ 'content-type': text }),
    ),
  ),
  httpStatusError: on(GRPC_HEADER, (text) =>
    grpcStatus.httpStatusError(headerList({ ':status': text, 'content-type': text })),
  ),
})
of(`${TRANSPORT}/grpc/wrong-protocol`, wrongProtocol, {
  foreignGreeting: onBytes(GRPC_HEADER, (bytes) =>
    wrongProtocol.foreignGreeting(Buffer.concat([Buffer.from('HTTP/'), bytes])),
  ),
})
of(`${TRANSPORT}/reply-metadata`, replyMetadata, {
  toReplyMetadata: on(GRPC_HEADER, (text) => replyMetadata.toReplyMetadata([['a-bin', text]])),
})
of(`${TRANSPORT}/http2/hpack-decoder`, hpack, {
  HpackDecoder: onBytes(GRPC_HEADER, (bytes) => new hpack.HpackDecoder(GRPC_HEADER).push(bytes)),
  HeaderList: on(GRPC_HEADER, (text) => headerList({ a: text }).get('a')),
})

// Brokers
of('packages/invalidation/src/bus/batch', batch, {
  parseBatch: onValues(BROKER, (value) => [
    batch.parseBatch({ events: [value], origin: value, n: 1 }),
    batch.parseBatch({ events: [], origin: 'a', n: 1, applied: value }),
  ]),
  ownChannel: on(NAME, (text) => batch.ownChannel('a', text)),
})
of('packages/response-cache/src/redis/codec', cacheCodec, {
  decodeMeta: onBytes(BROKER, (bytes) => cacheCodec.decodeMeta(Buffer.from('[1,1,1,1]'), bytes, bytes, 1)),
  decodeMessage: onBytes(BROKER, (bytes) => cacheCodec.decodeMessage(bytes, { self: 'a', database: 0 })),
})
of('packages/response-cache/src/store/entry', cacheEntry, { typeOfTag: on(BROKER, cacheEntry.typeOfTag) })
of('packages/live-query/src/store/store', identifiers, {
  toEvent: on(BROKER, identifiers.toEvent),
})

// Downloaded documents
const OPENAPI = `${CONNECTOR}/openapi`
of(`${OPENAPI}/openapi-document`, openApi, {
  createDocument: on(DOCUMENT, (ref) =>
    openApi
      .createDocument({
        root: { a: { $ref: `#/${ref}` }, $id: ref },
        files: new Map(),
        missing: new Map(),
      })
      .find({ $ref: `#/a/${ref}` }),
  ),
  splitOnce: on(DOCUMENT, (text) => openApi.splitOnce(text, '#')),
  escapeStep: on(DOCUMENT, openApi.escapeStep),
  unescapeStep: on(DOCUMENT, openApi.unescapeStep),
  decoded: on(DOCUMENT, openApi.decoded),
})
of(`${OPENAPI}/files/read-document`, openApiFiles, {
  readDocument: on(DOCUMENT, (text) =>
    openApiFiles.readDocument({ openapi: '3.0.0', paths: { [text]: { $ref: text } } }),
  ),
})
of(`${OPENAPI}/names`, names, {
  wordsOf: on(DOCUMENT, names.wordsOf),
  pascal: on(DOCUMENT, names.pascal),
  camel: on(DOCUMENT, names.camel),
  capitalize: on(DOCUMENT, names.capitalize),
  toFieldName: on(DOCUMENT, names.toFieldName),
  legal: on(DOCUMENT, names.legal),
  constantName: on(DOCUMENT, names.constantName),
  isName: on(DOCUMENT, names.isName),
  fieldNames: on(DOCUMENT, (text) => names.fieldNames([text, `${text}a`])),
})
of(`${OPENAPI}/findings`, findings, {
  pointerOf: on(DOCUMENT, (text) => findings.pointerOf(text, text)),
  describeFinding: on(DOCUMENT, (text) => findings.describeFinding({ place: text, message: text })),
})
of(`${OPENAPI}/operation-names`, operationNames, { spoken: on(DOCUMENT, operationNames.spoken) })
of(`${OPENAPI}/links`, links, {
  valueOf: on(DOCUMENT, (text) => [
    links.valueOf(`{$${text}`, { path: '/' } as never, {}),
    links.valueOf(`$response.body#/${text}`, { path: '/' } as never, {}),
  ]),
  argumentOf: on(DOCUMENT, (text) => links.argumentOf({ path: `/${text}` } as never, `path.${text}`)),
})
of(`${OPENAPI}/types/type-names`, typeNames, {
  schemaName: on(DOCUMENT, (text) => [typeNames.schemaName(`#/${text}`), typeNames.schemaName(text)]),
  sharedPlace: on(DOCUMENT, (text) => typeNames.sharedPlace(text, { name: 'a', key: 'a' })),
  inside: on(DOCUMENT, (text) => typeNames.inside({ name: 'a', key: 'a' }, text, text)),
  withoutInput: on(DOCUMENT, typeNames.withoutInput),
  spokenKey: on(DOCUMENT, (text) => typeNames.spokenKey(`input ${text}`)),
})
of(`${OPENAPI}/types/enum-names`, enumNames, {
  namesIn: on(DOCUMENT, (text) => enumNames.namesIn({}, [text, `${text}a`])),
})
of(`${OPENAPI}/types/describe`, describe, {
  describeText: on(DOCUMENT, (text) => describe.describeText(text, text)),
})
of('packages/source-kit/src/templates/result-path', resultPath, {
  compileResultPath: on(DOCUMENT, (text) =>
    resultPath.compileResultPath(`$${text}`, (why) => new Error(why)),
  ),
})

/** A function may refuse an input, and still has to be fast with the next. */
function refused<Given, Result>(read: (given: Given) => Result): (given: Given) => Result | undefined {
  return (given) => {
    try {
      return read(given)
    } catch {
      return undefined
    }
  }
}

function headerList(fields: Readonly<Record<string, string>>): hpack.HeaderList {
  const list = new hpack.HeaderList()
  list.fields.push(...Object.entries(fields).flat())
  return list
}

function lengthDelimited(bytes: Buffer): Buffer {
  return Buffer.from(new BinaryWriter().bytes(bytes).finish())
}

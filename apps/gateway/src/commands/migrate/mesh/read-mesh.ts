import { isRecord } from '@vinyasa/core'
import { type DocumentNode, type GraphQLSchema, Kind } from 'graphql'
import { schemaForClients } from '../../against/read-old-schema.ts'
import { MeshOperations } from './operations.ts'
import { readTransforms, type Transforms } from './transforms.ts'
import { headersOf, listOf, MeshYaml, type Path } from './yaml.ts'
import { filled, type Migration, nearby, textOf, Unsaid, type Values, knownMessages } from '../migration.ts'
import { OldDocument } from '../old-document.ts'
import { messageOf } from '../../../errors.ts'
import { grpcSchemaOf } from '../../init-grpc.ts'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parse } from 'yaml'

/** Handlers of which there is no source. */
const NO_HANDLER: Readonly<Record<string, string>> = {
  graphql: 'GraphQL sources are not supported',
  soap: 'SOAP sources are not supported',
}

/** Settings of `serve` that are read. */
const SERVED: ReadonlySet<string> = new Set(['port', 'hostname', 'host', 'cors', 'endpoint'])

/** Settings of the whole that are read, or that nobody but tools misses. */
const READ: ReadonlySet<string> = new Set([
  '$schema',
  'additionalResolvers',
  'additionalTypeDefs',
  'sdk',
  'serve',
  'sources',
])

/** Settings of the whole that have theirs elsewhere. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  cache: 'set responseCache',
  plugins: 'the gateway supports Yoga and Envelop plugins; add them in a TypeScript config',
  pubsub: 'set redisUrl',
  require: 'import these modules in a TypeScript config',
  transforms: 'root transforms are not supported; set prefix, rename and hide for each source',
  persistedOperations: 'register documents in persistedDocuments',
  customFetch: 'change requests with interceptors in a TypeScript config',
  skipSSLValidation:
    'certificates are always verified; set the certificate authority in tls.ca (gRPC) or NODE_EXTRA_CA_CERTS',
  documents: 'register documents in persistedDocuments',
}

/** Prefixes of methods that Mesh takes for reads, where its configuration names no others. */
const READING: readonly string[] = ['get', 'list', 'search']

/**
 * The fields that Mesh makes of methods: `users_v1_UserService_GetUser(input:)`, a query where the method's name begins
 * with one of `reading`, in any case. Throws {@link Unsaid} where the files cannot be read.
 */
async function meshMethods(draft: GrpcDraft, directory: string, reading: readonly string[]) {
  const bare = await schemaOf(draft, directory, {})
  const typeNames = knownMessages(bare, (message) => `google__protobuf__${message}`)
  const schema = Object.keys(typeNames).length === 0 ? bare : await schemaOf(draft, directory, typeNames)
  const inputs = Object.values(typeNames).filter((name) => schema.getType(`${name}Input`))
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}),
  )
  const methods = Object.fromEntries(
    fields.flatMap(({ args, extensions }) => {
      const method = /^[^:]*: ([\w.]+)/.exec(String(extensions['origin']))?.[1]
      if (method === undefined) return []
      const short = method.slice(method.lastIndexOf('.') + 1).toLowerCase()
      const isRead = reading.some((prefix) => short.startsWith(prefix.toLowerCase()))
      const name = method.replaceAll('.', '_')
      const request = args.length > 0 && { request: { name: 'input' } }
      return [[method, { schema: { type: isRead ? 'QUERY' : 'MUTATION', name, ...request } }]]
    }),
  )
  return {
    methods,
    /** Names of messages that are scalars by default. */
    typeNames,
    /** Names of the input types of these messages. */
    rename: Object.fromEntries(inputs.map((name) => [`${name}Input`, `${name}_Input`])),
    hasLong: schema.getType('Long') !== undefined,
  }
}

async function schemaOf(
  { protoFiles, includePaths, descriptorSet }: GrpcDraft,
  directory: string,
  typeNames: Readonly<Record<string, string>>,
): Promise<GraphQLSchema> {
  const files = { protoFiles, includePaths, descriptorSet }
  const options = { ...files, name: 'mesh', endpoint: 'localhost:1', typeNames } as const
  return grpcSchemaOf({ ...options, expose: 'all', int64: 'number-when-safe' }, directory).catch(
    (error: unknown) => {
      throw new Unsaid(messageOf(error))
    },
  )
}

/**
 * Reads a `.meshrc.yaml`; undefined: it is none. `built`: the schema that Mesh made of it, which says what its clients know.
 */
export async function readMesh(
  text: string,
  directory: string,
  built: DocumentNode | undefined,
): Promise<Migration | undefined> {
  const yaml = new MeshYaml(text)
  return yaml.sources.some(({ handler }) => handler) ? new Mesh(yaml, directory, built).read() : undefined
}

class Mesh {
  readonly #yaml: MeshYaml
  readonly #directory: string
  readonly #old: OldDocument
  readonly #schema: GraphQLSchema | undefined
  readonly #rest: Record<string, object> = {}
  readonly #grpc: Record<string, object> = {}
  readonly #operations: MeshOperations

  constructor(yaml: MeshYaml, directory: string, built: DocumentNode | undefined) {
    this.#yaml = yaml
    this.#directory = directory
    this.#old = new OldDocument(built ?? { kind: Kind.DOCUMENT, definitions: [] })
    this.#schema = built && schemaForClients(built)
    this.#operations = new MeshOperations(this.#old, yaml)
  }

  async read(): Promise<Migration> {
    for (const source of this.#yaml.sources) await this.#readSource(source)
    this.#operations.readJoins()
    const { data } = this.#yaml
    for (const [key, value] of Object.entries(data)) {
      const elsewhere = ELSEWHERE[key]
      if (value === undefined || READ.has(key)) continue
      this.#note(
        [key],
        elsewhere === undefined ? `${key} has no equivalent in this gateway` : `${key}: ${elsewhere}`,
      )
    }
    for (const key of Object.keys(isRecord(data['serve']) ? data['serve'] : {}))
      if (!SERVED.has(key)) this.#note(['serve', key], `serve.${key} has no equivalent in this gateway`)
    if (data['additionalTypeDefs'] !== undefined)
      this.#note(
        ['additionalTypeDefs'],
        'additionalTypeDefs: replace each field that uses @resolveTo with an entry in "joins" of a gRPC source or in "on" of a REST endpoint; write other definitions in typeDefs',
      )
    return {
      from: 'GraphQL Mesh',
      config: filled({
        ...serverOf(data['serve']),
        rest: { ...this.#rest, ...this.#operations.write() },
        grpc: this.#grpc,
      }),
      notes: this.#old.notes,
      schema: this.#schema,
    }
  }

  #note(path: Path, text: string): void {
    this.#old.note(this.#yaml.lineOf(path), text)
  }

  async #readSource({
    name,
    kind,
    handler,
    path,
    transforms: given,
  }: MeshYaml['sources'][number]): Promise<void> {
    const note = (below: Path, text: string): void => this.#note([...path, ...below], `${name}: ${text}`)
    if (!handler)
      return note(
        [],
        `handler ${kind}: ${NO_HANDLER[kind] ?? 'only the handlers grpc, openapi, newOpenapi and jsonSchema can be converted'}`,
      )
    const transforms = readTransforms(given, (index, text) => note(['transforms', index], text))
    const source = name.replaceAll(/\W/g, '_')
    const noteHere = (key: string, text: string): void => note(['handler', kind, key], text)
    if (kind === 'grpc') {
      const draft = grpcOf(handler, transforms, noteHere)
      const methods = await this.#methodsOf(draft, handler, transforms, noteHere)
      this.#grpc[source] = { ...draft, ...methods }
    } else if (/openapi/i.test(kind)) {
      const draft = openapiOf(handler, transforms, noteHere)
      this.#rest[source] = { ...draft, ...(await this.#namesOf(draft, transforms, noteHere)) }
    } else this.#operations.readSource(source, handler, transforms, [...path, 'handler', kind])
  }

  /** The names that clients of Mesh know an OpenAPI source by. */
  async #namesOf({ openapi }: OpenApiDraft, transforms: Transforms, note: NoteAt): Promise<object> {
    const notRead = 'fields are named after operation ids in camel case, and enum values in upper case'
    if (openapi.file === undefined) {
      note(
        'source',
        `the document is not a local file and was not read, so ${notRead}; set other names in rename`,
      )
      return {}
    }
    const { file, asQuery = [] } = openapi
    const names = await orNote(meshOpenApiNames(file, asQuery, this.#directory), note, notRead)
    if (!names) return {}
    const { fields, rename, queries, integers, hasLong } = names
    return filled({
      openapi: filled({ ...openapi, asQuery: queries, integers, rename: fields }),
      ...namedAsMesh(hasLong, { ...rename, ...transforms.rename }, note),
    })
  }

  /** The names and the argument that clients of Mesh know methods by. */
  async #methodsOf(draft: GrpcDraft, handler: Values, transforms: Transforms, note: NoteAt): Promise<object> {
    const { prefixQueryMethod: given } = handler
    const reading = Array.isArray(given) ? given.map(String) : READING
    const notRead =
      'fields are named after their methods (getUser) and have one argument per field of the request; set other names in methods'
    if (draft.reflection) {
      note('useReflection', notRead)
      return {}
    }
    const names = await orNote(meshMethods(draft, this.#directory, reading), note, notRead)
    if (!names) return {}
    const { methods, typeNames, rename, hasLong } = names
    return filled({ methods, typeNames, ...namedAsMesh(hasLong, { ...rename, ...transforms.rename }, note) })
  }
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const

/**
 * Mesh leaves names as they are, but for what GraphQL does not allow: operation ids, else path and method with underscores
 * (`jokes_by_id`, `post_jokes`); names of schemas, `_Input` behind those that are sent; values of enums. A name with signs that
 * are no separators keeps ours. Throws {@link Unsaid} where the document cannot be read.
 */
async function meshOpenApiNames(file: string, asQuery: readonly string[], directory: string) {
  const { importOpenApi } = await import('@vinyasa/rest-connector')
  const path = resolve(directory, file)
  try {
    const wanted = fieldsIn(parse(await readFile(path, 'utf8')) as unknown)
    // They are named as clients know them.
    const queries = asQuery.map((name) => Object.keys(wanted).find((key) => wanted[key] === name) ?? name)
    const options = { asQuery: queries, env: {} }
    const ours = await importOpenApi(path, options)
    // Types without a name of their own have it of operations.
    const { types, typeNames, ...theirs } = await importOpenApi(path, {
      ...options,
      integers: 'int',
      rename: wanted,
    })
    const own = new Set(ours.endpoints.map(({ name }) => name))
    const kept = new Set(theirs.endpoints.map(({ name }) => name).filter((name) => !own.has(name)))
    const rename: Record<string, string> = {}
    for (const [schema, name] of Object.entries(typeNames)) put(rename, name, nameOf(schema))
    for (const [type, definition] of Object.entries(types)) {
      if (definition.kind === 'input' && type.endsWith('Input'))
        put(rename, type, `${rename[type.slice(0, -5)] ?? type.slice(0, -5)}_Input`)
      if (definition.kind !== 'enum') continue
      const names = Object.entries(definition.values).map(
        ([name, { value }]) => [name, nameOf(String(value))] as const,
      )
      if (new Set(names.map(([, name]) => name)).size < names.length) continue
      for (const [name, mesh] of names) put(rename, `${type}.${name}`, mesh)
    }
    const longs = longsIn(types, theirs.endpoints)
    return {
      /** By operation id or `GET /path`. */
      fields: Object.fromEntries(Object.entries(wanted).filter(([, name]) => kept.has(name))),
      /** Operations that are queries, as `asQuery` names them. */
      queries,
      /** Names of types and values of enums, by their coordinates. */
      rename,
      /** Set if the document has integers without a format. */
      integers: longs < longsIn(ours.types, ours.endpoints) ? 'int' : undefined,
      hasLong: longs > 0,
    }
  } catch (error) {
    throw new Unsaid(messageOf(error))
  }
}

function longsIn(...parts: readonly object[]): number {
  return JSON.stringify(parts).match(/"\[*Long[\]!]*"/g)?.length ?? 0
}

function put(rename: Record<string, string>, coordinate: string, name: string | undefined): void {
  if (name !== undefined && name !== coordinate.split('.').at(-1)) rename[coordinate] = name
}

function fieldsIn(document: unknown): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [path, item] of entriesOf(document, 'paths'))
    for (const method of METHODS) {
      const operation = isRecord(item) ? item[method] : undefined
      if (!isRecord(operation)) continue
      const id = operation['operationId']
      const name = typeof id === 'string' ? nameOf(id) : nameOf(byPath(path, method, operation))
      if (name !== undefined) found[typeof id === 'string' ? id : `${method.toUpperCase()} ${path}`] = name
    }
  return found
}

/** `GET /jokes/{id}` is `jokes_by_id`; a path that names nothing has the type of its answer before it. */
function byPath(path: string, method: string, operation: Values): string {
  const words = path.replaceAll('{', 'by_').replaceAll('}', '').split('/').filter(Boolean)
  let name = words.join('_')
  if (name === '' || name.startsWith('by')) {
    const type = answerOf(operation)
    if (type !== undefined)
      name = [type.charAt(0).toLowerCase() + type.slice(1), name].filter(Boolean).join('_')
  }
  name = name.replace(/^by_/, '')
  return method === 'get' ? name : [method, name].filter(Boolean).join('_')
}

/** The name of the schema of the first answer. */
function answerOf(operation: Values): string | undefined {
  const [[, answer] = []] = entriesOf(operation, 'responses')
  const [[, content] = []] = entriesOf(answer, 'content')
  const schema = isRecord(content) ? content['schema'] : isRecord(answer) ? answer['schema'] : undefined
  const reference = isRecord(schema) ? schema['$ref'] : undefined
  return typeof reference === 'string' ? reference.split('/').at(-1) : undefined
}

function entriesOf(value: unknown, key: string): [string, unknown][] {
  const within = isRecord(value) ? value[key] : undefined
  return isRecord(within) ? Object.entries(within) : []
}

/** The text with underscores for separators; undefined: it has other signs, or is no name even so. */
function nameOf(text: string): string | undefined {
  if (!/^\w[\w ./:-]*$/.test(text)) return undefined
  const name = text.replaceAll(/[ ./:-]/g, '_').replace(/^(?=\d)/, '_')
  return name.startsWith('__') || /^(?:true|false|null)$/.test(name) ? undefined : name
}

/** What was read; undefined where it cannot be, which is noted with what follows from that. */
function orNote<Read>(read: Promise<Read>, note: NoteAt, notRead: string): Promise<Read | undefined> {
  return read.catch((error: unknown) => {
    if (!(error instanceof Unsaid)) throw error
    note('source', `${error.message}; ${notRead}`)
    return undefined
  })
}

type NoteAt = (key: string, text: string) => void

/** The settings that call 64-bit integers as Mesh does, and give numbers for them, where a source has some. */
function namedAsMesh(hasLong: boolean, rename: Transforms['rename'], note: NoteAt): object {
  if (!hasLong) return { rename }
  note(
    'source',
    '64-bit integers (BigInt) that are not safe integers in JavaScript are now strings of digits; safe integers remain numbers',
  )
  return { int64: 'number-when-safe', rename: { ...rename, Long: 'BigInt' } }
}

function serverOf(serve: unknown): Values {
  if (!isRecord(serve)) return {}
  const host = textOf(serve['hostname'] ?? serve['host'])
  const cors = isRecord(serve['cors']) ? serve['cors'] : {}
  const origins = [cors['origin'] ?? []].flat()
  return filled({
    server: filled({ port: Number(serve['port']) || undefined, host }),
    graphql: filled({
      path: textOf(serve['endpoint']),
      cors:
        origins.length === 0
          ? undefined
          : filled({ origins, credentials: cors['credentials'] === true ? true : undefined }),
    }),
  })
}

const OPENAPI: ReadonlySet<string> = new Set([
  'source',
  'endpoint',
  'baseUrl',
  'operationHeaders',
  'schemaHeaders',
  'selectQueryOrMutationField',
  'timeout',
])

interface OpenApiDraft {
  readonly openapi: { readonly url?: string; readonly file?: string; readonly asQuery?: readonly string[] }
}

function openapiOf(handler: Values, transforms: Transforms, note: NoteAt): OpenApiDraft {
  const source = nearby(String(handler['source'] ?? ''))
  const isUrl = /^https?:/.test(source)
  const { headers, forwarded } = headersOf(handler['operationHeaders'], (text) =>
    note('operationHeaders', text),
  )
  const asQuery = listOf(handler['selectQueryOrMutationField'])
    .filter((one) => one['type'] === 'Query')
    .map((one) => String(one['fieldName']))
  if (handler['schemaHeaders'] !== undefined)
    note('schemaHeaders', 'schemaHeaders: set openapi.download.headers')
  noteOthers(handler, OPENAPI, note)
  return {
    ...filled({ baseUrl: textOf(handler['endpoint'] ?? handler['baseUrl']) }),
    openapi: { ...(isUrl ? { url: source } : { file: source }), ...(asQuery.length > 0 && { asQuery }) },
    ...filled({
      defaultHeaders: headers,
      forwardHeaders: forwarded,
      timeoutMs: Number(handler['timeout']) || undefined,
      ...transforms,
    }),
  }
}

const GRPC: ReadonlySet<string> = new Set([
  'endpoint',
  'source',
  'protoFilePath',
  'descriptorSetFilePath',
  'useReflection',
  'useHTTPS',
  'credentialsSsl',
  'metaData',
  'prefixQueryMethod',
  'requestTimeout',
])

interface GrpcDraft {
  readonly reflection?: boolean
  readonly protoFiles?: readonly string[]
  readonly includePaths?: readonly string[]
  readonly descriptorSet?: string
}

function grpcOf(handler: Values, transforms: Transforms, note: NoteAt): GrpcDraft & Values {
  const given = handler['source'] ?? handler['protoFilePath']
  const { file, load } = isRecord(given) ? given : { file: given, load: undefined }
  const isDescriptor = /\.(bin|binpb|desc|pb|protoset)$/.test(String(file))
  const descriptorSet = textOf(handler['descriptorSetFilePath'] ?? (isDescriptor ? file : undefined))
  const isReflected = handler['useReflection'] === true || /^grpcs?:/.test(String(file))
  const { headers, forwarded } = headersOf(handler['metaData'], (text) => note('metaData', text))
  noteOthers(handler, GRPC, note)
  const includeDirs =
    isRecord(load) && Array.isArray(load['includeDirs']) ? load['includeDirs'].map(String) : []
  const ssl = isRecord(handler['credentialsSsl']) ? handler['credentialsSsl'] : undefined
  const tls = ssl && {
    ca: textOf(ssl['rootCA']),
    cert: textOf(ssl['certChain']),
    key: textOf(ssl['privateKey']),
  }
  return {
    ...filled({
      endpoint: textOf(handler['endpoint']),
      reflection: isReflected ? true : undefined,
      descriptorSet: isReflected ? undefined : descriptorSet && nearby(descriptorSet),
      protoFiles: isReflected || descriptorSet !== undefined ? undefined : [nearby(String(file))],
      includePaths: includeDirs.map(nearby),
      expose: 'all',
      fieldNames: 'proto',
      tls: tls ? filled(tls) : handler['useHTTPS'] === true ? true : undefined,
      timeoutMs: Number(handler['requestTimeout']) || undefined,
      metadata: filled({ static: headers }),
      ...transforms,
    }),
    // By default some are.
    forwardHeaders: forwarded,
  }
}

function noteOthers(handler: Values, known: ReadonlySet<string>, note: NoteAt): void {
  for (const key of Object.keys(handler))
    if (!known.has(key))
      note(
        key,
        `${key} cannot be converted; look for a similar setting of ${known === GRPC ? 'gRPC' : 'REST'} sources`,
      )
}

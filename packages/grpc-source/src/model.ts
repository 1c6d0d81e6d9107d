import { createTurns, keyed } from '@vinyasa/core'
import {
  mergeSources,
  nameSource,
  type ContributedField,
  type Source,
  parentMember,
} from '@vinyasa/source-kit'
import type { DescMessage, DescField, DescMethod, DescService } from '@bufbuild/protobuf'
import type { MutationAnnouncer } from '@vinyasa/invalidation'
import {
  getNamedType,
  GraphQLSchema,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLNamedType,
  isObjectType,
} from 'graphql'
import { createDecoders, type MessageDecoder } from './codec/decode.ts'
import { createEncoders, type MessageEncoder } from './codec/encode.ts'
import { scalarCodecs } from './codec/scalar-codecs.ts'
import { wellKnownCodecs } from './codec/well-known-codecs.ts'
import { createComments, type Comments } from './descriptors/comments.ts'
import { type Endpoints, neverConnected } from './endpoints.ts'
import { lintError } from './errors.ts'
import { noteNoMethods, readContract, type Contract, type ContractOptions } from './contract/contract.ts'
import type { JoinOptions } from './contract/join-options.ts'
import { declaredResolver, declareJoins, typesOf, type JoinContext, createJoinField } from './calls/joins.ts'
import { type TypedMethod, MethodRuntime } from './methods/method-runtime.ts'
import {
  findMethod,
  methodId,
  type ExposedMethod,
  type FieldType,
  answersWithStream,
} from './contract/methods.ts'
import { toSubgraph, type Entity } from './mapping/federation.ts'
import { createAnnouncedCalls, createMessageEvents } from './calls/invalidation.ts'
import type { Logger, FederationOptions } from './options.ts'
import { Transcoder } from './json/transcoder.ts'
import type { CallSite, Callable } from './methods/call-site.ts'
import type { Invoker } from './methods/invoker.ts'
import type { RpcErrorOptions } from './methods/rpc-error.ts'
import {
  createRootField,
  responseType,
  rootType,
  type RootField,
  type RootFieldOptions,
} from './calls/root-fields.ts'
import type { FieldShape } from './contract/shapes.ts'
import { TypeBuilder } from './mapping/types.ts'

interface RuntimesOptions
  extends Pick<ContractOptions, 'source' | 'annotations'>, Pick<Contract, 'exposed' | 'shapes' | 'findings'> {
  readonly endpoints: Endpoints
  readonly decoders: (message: DescMessage) => MessageDecoder
  readonly encoders: (message: DescMessage) => MessageEncoder
  readonly invoker: Invoker
  readonly errors: RpcErrorOptions
  readonly comments: Comments
}

/** How the methods of a set of descriptors are called. */
interface Runtimes {
  /** Returns the runtime of a method as a field shows it. */
  of(method: Pick<ExposedMethod, 'desc' | 'wrapRequest' | 'responsePluck'>, isRead: boolean): MethodRuntime
  /** Returns the runtime of a method as a join reads by it, whether it changes something or not. */
  reader(desc: DescMethod): MethodRuntime
  /** From code: the request and the response are whole. */
  whole(desc: DescMethod): MethodRuntime
  /** The field that stands for the response of an exposed method. */
  pluckOf(desc: DescMethod): DescField | undefined
}

/** A service without an endpoint is a finding, once. */
function createRuntimes(options: RuntimesOptions): Runtimes {
  const { source, annotations, endpoints, exposed, shapes, decoders, encoders, invoker, errors, comments } =
    options
  const { methods: overrides = {} } = source
  const withoutEndpoint = new Set<DescService>()

  for (const { desc } of exposed)
    if (overrides[methodId(desc)]?.keepRequestsOpen && desc.methodKind !== 'bidi_streaming')
      options.findings.push({
        element: methodId(desc),
        message: 'keepRequestsOpen applies only to bidirectional streaming methods; remove it',
        path: ['methods', methodId(desc), 'keepRequestsOpen'],
      })

  function of(
    method: Pick<ExposedMethod, 'desc' | 'wrapRequest' | 'responsePluck'>,
    isRead: boolean,
  ): MethodRuntime {
    return new MethodRuntime(method, {
      callable: toCallable(method.desc, isRead),
      encode: encoders(method.desc.input),
      invoker,
      shapes,
      errors,
      description: comments.of(method.desc),
      keepRequestsOpen: overrides[methodId(method.desc)]?.keepRequestsOpen ?? false,
    })
  }

  function toCallable(desc: DescMethod, isRead: boolean): Callable {
    const settings = overrides[methodId(desc)] ?? {}
    const transport = endpoints.of(desc.parent, annotations.service(desc.parent))
    if (!transport && !withoutEndpoint.has(desc.parent)) {
      withoutEndpoint.add(desc.parent)
      options.findings.push({
        file: desc.parent.file.proto.name,
        element: desc.parent.typeName,
        message: `has no endpoint; set endpoint, endpoints["${desc.parent.typeName}"] or (graphql.service).host`,
      })
    }
    const isStream = answersWithStream(desc)
    return {
      desc,
      path: `/${desc.parent.typeName}/${desc.name}`,
      transport: transport ?? neverConnected,
      decode: decoders(desc.output),
      timeoutMs: settings.timeoutMs ?? (isStream ? 0 : (source.timeoutMs ?? 15_000)),
      maxRetries: settings.retry?.maxRetries ?? source.retry?.maxRetries ?? 2,
      isRead,
    }
  }

  function pluckOf(desc: DescMethod): DescField | undefined {
    return exposed.find((method) => method.desc === desc)?.responsePluck
  }

  return {
    of,
    pluckOf,
    reader: (desc) => of({ desc, wrapRequest: undefined, responsePluck: pluckOf(desc) }, true),
    whole: keyed((desc: DescMethod) => {
      const isRead = exposed.some(
        (method) => method.desc === desc && (method.type === 'QUERY' || method.type === 'RESOLVER'),
      )
      return of({ desc, wrapRequest: undefined, responsePluck: undefined }, isRead)
    }),
  }
}

/** The entities among a schema's types, each with the join that resolves references to it. */
function findEntities(
  schema: GraphQLSchema,
  { registry, annotations }: ContractOptions,
  { names, exposed }: Contract,
  federation: FederationOptions,
  context: JoinContext,
): Entity[] {
  const entities: Entity[] = []
  for (const message of registry) {
    if (message.kind !== 'message') continue
    const annotation = annotations.entity(message)
    if (!annotation?.keys?.length) continue
    const typeName = names.of(message)
    if (!isObjectType(schema.getType(typeName))) continue
    const field = entityField(message, typeName, annotation.keys)
    if (!field && annotation.resolvable === true)
      context.findings.push({
        file: message.file.proto.name,
        element: message.typeName,
        message: `is an entity, but this source cannot resolve it; expose a QUERY or RESOLVER method that accepts the key "${annotation.keys[0]}" and returns ${typeName}, set federation.entities["${typeName}"] to a valid join, or set resolvable: false`,
      })
    entities.push({ typeName, field })
  }
  return entities

  function entityField(
    message: DescMessage,
    typeName: string,
    keys: readonly string[],
  ): GraphQLFieldConfig<unknown, unknown> | undefined {
    const join = federation.entities?.[typeName] ?? joinByKey(message, keys)
    const path = ['federation', 'entities', typeName]
    return join && createJoinField({ ...join, type: '_Entity', field: typeName }, path, context, parentMember)
  }

  /** The join by the first exposed method that takes the first key and returns the entity. */
  function joinByKey(
    message: DescMessage,
    keys: readonly string[],
  ): Pick<JoinOptions, 'method' | 'request'> | undefined {
    const keyFields = (keys[0] ?? '').split(/\s+/)
    const inputs = (method: ExposedMethod): string[] =>
      context.shapes.message(method.desc.input).fields.map(({ name }) => name)
    const method = exposed.find((candidate) => {
      const { responsePluck, desc, type } = candidate
      const result =
        responsePluck?.fieldKind === 'message'
          ? responsePluck.message
          : responsePluck
            ? undefined
            : desc.output
      const isRead = type === 'QUERY' || type === 'RESOLVER'
      return isRead && result === message && keyFields.every((key) => inputs(candidate).includes(key))
    })
    return method && { method: method.id, request: Object.fromEntries(keyFields.map((key) => [key, key])) }
  }
}

/** Warns of each enum number that the protos do not know, once. */
function warnOfUnknownEnums(logger: Logger, sourceName: string): (enumName: string, number: number) => void {
  const seen = new Set<string>()
  return (enumName, number) => {
    const key = `${enumName} ${number}`
    // A hostile backend could send every number there is.
    if (seen.has(key) || seen.size >= 1_000) return
    seen.add(key)
    logger.warn(
      `grpc source "${sourceName}": the backend sent ${number}, which is not a value of ${enumName} and becomes null; update the protos to the version of the backend`,
    )
  }
}

/** All that follows from one set of descriptors; a reload makes a new one. */
export interface Model {
  readonly schema: GraphQLSchema
  /** Notes on what is called otherwise than its protos say, and on what is left out. */
  readonly notes: readonly string[]
  /** The joins that the options declare, on types of this source and of others. */
  readonly joins: readonly ContributedField[]
  /**
   * Calls `package.Service.Method`, exposed or not, or a method with the codecs of generated code. It returns undefined if
   * the protos have no such method.
   */
  call(
    method: string | TypedMethod<unknown, unknown>,
    request: unknown,
    site: CallSite,
  ): Promise<unknown> | undefined
}

export interface ModelOptions extends ContractOptions {
  readonly endpoints: Endpoints
  readonly invoker: Invoker
  readonly errors: RpcErrorOptions
  readonly logger: Logger
  readonly announcer: MutationAnnouncer
  /** Tells the source's fields from all others. */
  readonly sourceId: string
}

/** @throws GrpcSourceError with every finding */
export function buildModel(options: ModelOptions): Model {
  const { registry, annotations, announcer, source, sourceId } = options
  const { name: sourceName, methods: overrides = {} } = source
  const contract = readContract(options)
  const { shapes, exposed, names, typesMeant, variesBy, notes, findings } = contract
  const comments = createComments()
  const types = new TypeBuilder({
    shapes,
    names,
    comments,
    annotations,
    sourceName,
    findings,
    resolverField,
  })
  const { decoders, encoders, plannable } = createCodecs(options, contract)
  const runtimes = createRuntimes({ ...options, exposed, shapes, decoders, encoders, comments, findings })
  const joinContext: JoinContext = {
    sourceName,
    shapes,
    types,
    findings,
    findMethod: (id) => findMethod(registry, id),
    reader: runtimes.reader,
    pluckOf: runtimes.pluckOf,
    dependsOnOf: (desc) => overrides[methodId(desc)]?.dependsOn?.flatMap(typesMeant(desc)),
    variesBy,
    plannable,
  }

  /** The field for `(graphql.field).resolver`; a join in the options takes its place. */
  function resolverField(
    message: DescMessage,
    field: FieldShape,
  ): GraphQLFieldConfig<unknown, unknown> | undefined {
    const typeName = names.of(message)
    // Under other names only those tell what takes whose place.
    const isAsNamed = !source.prefix && !source.rename && !source.hide
    if (isAsNamed && source.joins?.some((join) => join.type === typeName && join.field === field.name))
      return undefined
    return declaredResolver(message, field, exposed, joinContext)
  }

  const rootFieldOptions: RootFieldOptions = {
    types,
    shapes,
    sourceName,
    sourceId,
    variesBy,
    announcer,
    mutationEvents: createMessageEvents(),
    named: () => named,
    typesMeant,
    fieldMasks: source.fieldMasks === true,
    plannable,
  }
  const roots = rootFields(exposed, (method) =>
    createRootField(method, runtimes.of(method, method.type === 'QUERY'), rootFieldOptions),
  )
  const declared = declareJoins(source.joins ?? [], joinContext)
  // Building the schema makes every type, and with it every finding.
  const plain = orFindings(contract, sourceName, () =>
    schemaOf(roots, [...typesOf(declared), ...resolvedTypes(exposed, rootFieldOptions)]),
  )
  const own: Source = { id: sourceId, schema: plain, fields: declared }
  const named = nameSource(own, findings.length === 0 ? source : {})
  // Without joins it is whole; otherwise two fields of one name are told here, where the source is named.
  const isJoined = findings.length === 0 && named.source.fields.length > 0
  const joined = isJoined ? mergeSources(null, [named.source]).schema : (named.source.schema ?? plain)
  const schema = asSubgraph(joined, options, contract, joinContext)
  noteNoMethods(contract, source)
  if (findings.length > 0) throw lintError(sourceName, findings)

  const announced = createAnnouncedCalls(exposed, schema, rootFieldOptions)
  return {
    schema,
    joins: named.source.fields,
    notes,
    call(method, request, site) {
      const desc = findMethod(registry, typeof method === 'string' ? method : method.path)
      if (!desc) return undefined
      const runtime = runtimes.whole(desc)
      if (typeof method === 'string') {
        const args = request as Readonly<Record<string, unknown>>
        return announced(desc, args, () => runtime.unary(args, site))
      }
      const decode = (bytes: Uint8Array): unknown => method.responseDeserialize(Buffer.from(bytes))
      return announced(desc, {}, () => runtime.send(method.requestSerialize(request), site, decode))
    },
  }
}

/** The encoders of requests, the decoders of replies, and what plans write JSON with; the latter undefined where the options want no plans. */
function createCodecs(
  { registry, logger, source: { name, plans, maxResponseItems } }: ModelOptions,
  { shapes }: Contract,
): {
  readonly decoders: ReturnType<typeof createDecoders>
  readonly encoders: ReturnType<typeof createEncoders>
  readonly plannable: RootFieldOptions['plannable']
} {
  const onUnknownEnum = warnOfUnknownEnums(logger, name)
  const scalars = scalarCodecs(shapes.options.int64)
  const codecs = { shapes, scalars, wellKnown: wellKnownCodecs(registry, scalars), onUnknownEnum }
  const decoders = createDecoders({ ...codecs, maxItems: maxResponseItems })
  const encoders = createEncoders(codecs)
  if (plans === false) return { decoders, encoders, plannable: undefined }
  const transcoder = new Transcoder(maxResponseItems)
  const plannable = { codecs: { ...codecs, decoder: decoders }, transcoder, turns: createTurns() }
  return { decoders, encoders, plannable }
}

type Roots = Record<Exclude<FieldType, 'RESOLVER'>, GraphQLFieldConfigMap<unknown, unknown>>

function rootFields(exposed: readonly ExposedMethod[], fieldOf: (method: ExposedMethod) => RootField): Roots {
  const roots: Roots = { QUERY: {}, MUTATION: {}, SUBSCRIPTION: {} }
  for (const method of exposed) {
    if (method.type === 'RESOLVER') continue
    roots[method.type][method.name] = fieldOf(method) as GraphQLFieldConfigMap<unknown, unknown>[string]
  }
  return roots
}

/** What RESOLVER methods give: types of the schema also where no field of it gives them yet. */
function resolvedTypes(exposed: readonly ExposedMethod[], options: RootFieldOptions): GraphQLNamedType[] {
  return exposed
    .filter(({ type }) => type === 'RESOLVER')
    .map((method) => getNamedType(responseType(method, options)))
}

function schemaOf(roots: Roots, types: GraphQLNamedType[]): GraphQLSchema {
  return new GraphQLSchema({
    query: rootType('Query', roots.QUERY),
    mutation: rootType('Mutation', roots.MUTATION),
    subscription: rootType('Subscription', roots.SUBSCRIPTION),
    types,
  })
}

/** Returns what `build` makes. What GraphQL refuses was found before, and the findings say it better. */
function orFindings<T>({ findings }: Contract, sourceName: string, build: () => T): T {
  try {
    return build()
  } catch (error) {
    throw findings.length > 0 ? lintError(sourceName, findings) : error
  }
}

/** The schema as a subgraph, where the options want one. */
function asSubgraph(
  schema: GraphQLSchema,
  options: ModelOptions,
  contract: Contract,
  context: JoinContext,
): GraphQLSchema {
  const { federation: asked, name } = options.source
  if (!asked) return schema
  const entities = findEntities(schema, options, contract, asked === true ? {} : asked, context)
  return toSubgraph(schema, entities, {
    id: options.sourceId,
    origin: `grpc source "${name}": federation`,
    extensions: contract.variesBy && { variesBy: contract.variesBy },
  })
}

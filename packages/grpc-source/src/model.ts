import {
  createTurns,
  mergeSources,
  nameSource,
  type ContributedField,
  type Source,
} from '@vinyasa/source-kit'
import type { DescMessage, FileRegistry } from '@bufbuild/protobuf'
import type { MutationAnnouncer } from '@vinyasa/invalidation'
import { GraphQLSchema, type GraphQLFieldConfig, type GraphQLFieldConfigMap } from 'graphql'
import type { Annotations } from './contract/annotations.ts'
import { createDecoders } from './codec/decode.ts'
import { scalarCodecs } from './codec/scalar-codecs.ts'
import { wellKnownCodecs } from './codec/well-known-codecs.ts'
import { createComments } from './descriptors/comments.ts'
import type { LoadedDescriptors } from './descriptors/load.ts'
import type { Endpoints } from './endpoints.ts'
import { lintError, type Finding } from './errors.ts'
import { createExposure } from './contract/exposure.ts'
import { declaredResolver, declareJoins, typesOf, type JoinContext } from './calls/joins.ts'
import type { TypedMethod } from './methods/method-runtime.ts'
import { exposeMethods, findMethod, joinedMethods, methodId } from './contract/methods.ts'
import { findEntities } from './calls/entities.ts'
import { toSubgraph } from './mapping/federation.ts'
import { createAnnouncedCalls, createMessageEvents } from './calls/invalidation.ts'
import type { FederationOptions, GrpcSourceOptions, Logger } from './options.ts'
import { ReplyTranscoder } from './json/transcoder.ts'
import type { CallSite } from './methods/call-site.ts'
import type { Invoker } from './methods/invoker.ts'
import { askerOf } from './runtime/metadata.ts'
import { toRpcError, type RpcErrorOptions } from './methods/rpc-error.ts'
import { createRuntimes } from './methods/runtimes.ts'
import { createTypeNames } from './contract/names.ts'
import { checkNamesInSettings } from './contract/named-in-settings.ts'
import { createTypesMeant } from './contract/types-meant.ts'
import { findUsedTypes } from './contract/used-types.ts'
import { createRootField, rootType } from './calls/root-fields.ts'
import { toMappingOptions } from './contract/mapping-options.ts'
import { createShapes, type FieldShape } from './contract/shapes.ts'
import { TypeBuilder } from './mapping/types.ts'
import { warnOfUnknownEnums } from './mapping/unknown-enums.ts'

/** All that follows from one set of descriptors; a reload makes a new one. */
export interface Model {
  readonly schema: GraphQLSchema
  /** Notes on what is called otherwise than its protos say, and on what is left out. */
  readonly notes: readonly string[]
  readonly registry: FileRegistry
  /** The joins that the options declare, on types of this source and of others. */
  readonly joins: readonly ContributedField[]
  /** Calls `package.Service.Method`, exposed or not; undefined when the protos have no such method. */
  call(id: string, args: Readonly<Record<string, unknown>>, site: CallSite): Promise<unknown> | undefined
  /** Calls a method with the codecs of generated code; undefined when the protos have no such method. */
  callTyped(
    method: TypedMethod<unknown, unknown>,
    request: unknown,
    site: CallSite,
  ): Promise<unknown> | undefined
}

export interface ModelOptions extends LoadedDescriptors {
  readonly annotations: Annotations
  readonly endpoints: Endpoints
  readonly invoker: Invoker
  readonly errors: RpcErrorOptions
  readonly logger: Logger
  readonly announcer: MutationAnnouncer
  readonly source: GrpcSourceOptions
  /** Tells the source's fields from all others. */
  readonly sourceId: string
}

/** @throws GrpcSourceError with every finding */
export function buildModel(options: ModelOptions): Model {
  const { registry, isOwn, annotations, endpoints, invoker, errors, logger } = options
  const { announcer, source, sourceId } = options
  const { name: sourceName, expose = 'annotated', methods: overrides = {}, maxResponseItems } = source
  const findings: Finding[] = checkNamesInSettings(source, registry)
  const asker = askerOf(sourceName, source)
  const mapping = toMappingOptions(source)
  const shapes = createShapes(annotations, mapping, findings)
  const notes: string[] = []
  const exposed = exposeMethods({
    registry,
    annotations,
    exposure: createExposure(expose, ({ parent }) => isOwn(parent)),
    overrides,
    findings,
    notes,
  })
  const used = findUsedTypes([...exposed, ...joinedMethods(source, registry)])
  const names = createTypeNames({
    overrides: mapping.typeNames,
    naming: source.typeNaming ?? 'short',
    used,
    findings,
  })
  for (const { typeName, name } of names.renamed)
    notes.push(`${typeName} is the type "${name}": its short name is not its own`)
  const typesMeant = createTypesMeant(used.outputs, names)
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
  const onUnknownEnum = warnOfUnknownEnums(logger, sourceName)
  const scalars = scalarCodecs(mapping.int64)
  const wellKnown = wellKnownCodecs(registry, scalars)
  const decoders = createDecoders({ shapes, scalars, wellKnown, onUnknownEnum, maxItems: maxResponseItems })
  const plannable =
    source.plans === false
      ? undefined
      : {
          codecs: { shapes, scalars, wellKnown, onUnknownEnum, decoder: decoders },
          transcoder: new ReplyTranscoder(maxResponseItems),
          turns: createTurns(),
        }
  const runtimes = createRuntimes({
    source,
    registry,
    annotations,
    endpoints,
    exposed,
    shapes,
    decoders,
    invoker,
    errors,
    comments,
    findings,
  })
  const mutationEvents = createMessageEvents()

  const joinContext: JoinContext = {
    sourceName,
    shapes,
    types,
    findings,
    findMethod: (id) => findMethod(registry, id),
    reader: runtimes.reader,
    pluckOf: runtimes.pluckOf,
    dependsOnOf: (desc) => overrides[methodId(desc)]?.dependsOn?.flatMap(typesMeant(desc)),
    asker,
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

  function asSubgraph(joined: GraphQLSchema, federation: FederationOptions): GraphQLSchema {
    const entities = findEntities({
      registry,
      annotations,
      names,
      schema: joined,
      exposed,
      federation,
      context: joinContext,
    })
    return toSubgraph(joined, entities, {
      id: sourceId,
      origin: `grpc source "${sourceName}": federation`,
      extensions: asker && { asker },
    })
  }

  /** Returns what `build` makes. What GraphQL refuses was found before, and the findings say it better. */
  function orFindings<T>(build: () => T): T {
    try {
      return build()
    } catch (error) {
      throw findings.length > 0 ? lintError(sourceName, findings) : error
    }
  }

  const roots: Record<'QUERY' | 'MUTATION' | 'SUBSCRIPTION', GraphQLFieldConfigMap<unknown, unknown>> = {
    QUERY: {},
    MUTATION: {},
    SUBSCRIPTION: {},
  }
  for (const method of exposed) {
    if (method.type === 'RESOLVER') continue
    const runtime = runtimes.of(method, method.type === 'QUERY')
    const field = createRootField(method, runtime, {
      types,
      shapes,
      sourceName,
      sourceId,
      asker,
      announcer,
      mutationEvents,
      named: () => named,
      typesMeant,
      fieldMasks: source.fieldMasks === true,
      plannable,
    })
    roots[method.type][method.name] = field as GraphQLFieldConfigMap<unknown, unknown>[string]
  }
  const declared = declareJoins(source.joins ?? [], joinContext)
  // Building the schema makes every type, and with it every finding.
  const plain = orFindings(
    () =>
      new GraphQLSchema({
        query: rootType('Query', roots.QUERY),
        mutation: rootType('Mutation', roots.MUTATION),
        subscription: rootType('Subscription', roots.SUBSCRIPTION),
        types: typesOf(declared),
      }),
  )
  const own: Source = { id: sourceId, schema: plain, fields: declared }
  const named = nameSource(own, findings.length === 0 ? source : {})
  const joined = findings.length === 0 ? mergeSources(null, [named.source]).schema : plain
  const schema = source.federation
    ? asSubgraph(joined, source.federation === true ? {} : source.federation)
    : joined
  if (exposed.length === 0) {
    // Files that define no methods are nobody's mistake; where methods were chosen, choosing none is.
    const message = 'no method is exposed'
    const mend = 'annotate one with (graphql.schema), name it in methods, or set expose: "all"'
    if (expose === 'all') notes.push(`${message}: the services of the named files have none`)
    else findings.push({ message: `${message}; ${mend}` })
  }
  if (findings.length > 0) throw lintError(sourceName, findings)

  const announced = createAnnouncedCalls({ exposed, schema, announcer, mutationEvents, named, typesMeant })
  return {
    schema,
    registry,
    joins: named.source.fields,
    notes,
    call(id, args, site) {
      const desc = findMethod(registry, id)
      const runtime = desc && runtimes.whole(desc)
      return runtime && announced(desc, args, () => runtime.unary(args, site))
    },
    callTyped(method, request, site) {
      const desc = findMethod(registry, method.path)
      if (!desc) return undefined
      const decode = (bytes: Uint8Array): unknown => method.responseDeserialize(Buffer.from(bytes))
      const callable = runtimes.callable(desc)
      return announced(desc, {}, () =>
        invoker.unary(callable, method.requestSerialize(request), site, decode).catch((error: unknown) => {
          throw toRpcError(error, errors)
        }),
      )
    },
  }
}

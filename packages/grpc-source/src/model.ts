import type { DescMethod, FileRegistry } from '@bufbuild/protobuf'
import { GraphQLObjectType, GraphQLSchema, type GraphQLFieldConfigMap } from 'graphql'
import type { Annotations } from './annotations.ts'
import { createDecoders } from './codec/decode.ts'
import { createEncoders } from './codec/encode.ts'
import { createComments } from './descriptors/comments.ts'
import type { Endpoints } from './endpoints.ts'
import { lintError, type Finding } from './errors.ts'
import { createMethodRuntime, type MethodRuntime } from './method-runtime.ts'
import { exposeMethods, findMethod, methodId, type ExposedMethod } from './methods.ts'
import type { GrpcSourceOptions, Logger, MappingOptions } from './options.ts'
import type { Callable, Invoker } from './runtime/invoker.ts'
import type { RpcErrorOptions } from './runtime/rpc-error.ts'
import { createTypeNames } from './schema/names.ts'
import { createRootField } from './schema/root-fields.ts'
import { createShapes } from './schema/shapes.ts'
import { createTypeBuilder } from './schema/types.ts'

/** All that follows from one set of descriptors; a reload makes a new one. */
export interface Model {
  readonly schema: GraphQLSchema
  readonly registry: FileRegistry
  /** The method to call by `package.Service.Method`, exposed or not. */
  method(id: string): MethodRuntime | undefined
}

export interface ModelOptions {
  readonly registry: FileRegistry
  readonly annotations: Annotations
  readonly endpoints: Endpoints
  readonly invoker: Invoker
  readonly errors: RpcErrorOptions
  readonly logger: Logger
  readonly source: GrpcSourceOptions
}

/** @throws GrpcSourceError with every finding */
export function buildModel(options: ModelOptions): Model {
  const { registry, annotations, endpoints, invoker, errors, logger, source } = options
  const { name: sourceName, expose = 'annotated', methods: overrides = {}, bus } = source
  const findings: Finding[] = []
  const mapping = toMappingOptions(source)
  const shapes = createShapes(annotations, mapping, findings)
  const names = createTypeNames(mapping.typeNames, findings)
  const comments = createComments()
  const types = createTypeBuilder({ shapes, names, comments, annotations, sourceName, findings })
  const decoders = createDecoders({
    shapes,
    registry,
    int64: mapping.int64,
    onUnknownEnum: warnOnce(logger, sourceName),
  })
  const encoders = createEncoders({ shapes, registry })
  const exposed = exposeMethods({ registry, annotations, expose, overrides, findings })
  const whole = new Map<DescMethod, MethodRuntime>()
  const messageNames = new Set(
    [...registry].flatMap((type) => (type.kind === 'message' ? [names.of(type)] : [])),
  )

  function createRuntime(
    method: Pick<ExposedMethod, 'desc' | 'wrapRequest' | 'responsePluck'>,
  ): MethodRuntime {
    return createMethodRuntime(method, {
      callable: toCallable(method.desc),
      encode: encoders(method.desc.input),
      invoker,
      shapes,
      errors,
      description: comments.of(method.desc),
    })
  }

  /** Called from code, the request and the response are whole. */
  function wholeRuntime(desc: DescMethod): MethodRuntime {
    let runtime = whole.get(desc)
    if (!runtime)
      whole.set(desc, (runtime = createRuntime({ desc, wrapRequest: undefined, responsePluck: undefined })))
    return runtime
  }

  function toCallable(desc: DescMethod): Callable {
    const settings = overrides[methodId(desc)] ?? {}
    const transport = endpoints.of(desc.parent, annotations.service(desc.parent))
    if (!transport) {
      findings.push({
        file: desc.parent.file.proto.name,
        element: desc.parent.typeName,
        message:
          'has no endpoint; set endpoint, endpoints["' +
          desc.parent.typeName +
          '"] or (graphql.service).host',
      })
    }
    const isStream = desc.methodKind !== 'unary'
    return {
      desc,
      path: `/${desc.parent.typeName}/${desc.name}`,
      transport: transport ?? (() => endpoints.main() as never),
      decode: decoders(desc.output),
      deadlineMs: settings.deadlineMs ?? (isStream ? 0 : (source.deadlineMs ?? 15_000)),
      retries: settings.retries ?? source.retries?.max ?? 2,
      isRead: exposed.some(
        (method) => method.desc === desc && (method.type === 'QUERY' || method.type === 'RESOLVER'),
      ),
    }
  }

  const roots: Record<'QUERY' | 'MUTATION' | 'SUBSCRIPTION', GraphQLFieldConfigMap<unknown, unknown>> = {
    QUERY: {},
    MUTATION: {},
    SUBSCRIPTION: {},
  }
  for (const method of exposed) {
    if (method.desc.methodKind === 'client_streaming' || method.desc.methodKind === 'bidi_streaming') continue
    const runtime = createRuntime(method)
    if (method.type === 'RESOLVER') continue
    const field = createRootField(method, runtime, {
      types,
      shapes,
      sourceName,
      bus,
      isEntity: (name) => messageNames.has(name),
    })
    roots[method.type][method.name] = field as GraphQLFieldConfigMap<unknown, unknown>[string]
  }
  const root = (
    name: string,
    fields: GraphQLFieldConfigMap<unknown, unknown>,
  ): GraphQLObjectType | undefined =>
    Object.keys(fields).length === 0 ? undefined : new GraphQLObjectType({ name, fields })
  // Building the schema makes every type, and with it every finding.
  const schema = new GraphQLSchema({
    query: root('Query', roots.QUERY),
    mutation: root('Mutation', roots.MUTATION),
    subscription: root('Subscription', roots.SUBSCRIPTION),
  })
  if (exposed.length === 0) {
    findings.push({
      message:
        'no method is exposed; annotate one with (graphql.schema), name it in methods, or set expose: "all"',
    })
  }
  if (findings.length > 0) throw lintError(sourceName, findings)

  return {
    schema,
    registry,
    method(id) {
      const desc = findMethod(registry, id)
      return desc && wholeRuntime(desc)
    },
  }
}

function toMappingOptions(source: GrpcSourceOptions): MappingOptions {
  const {
    fieldNames = 'camel',
    int64 = 'string',
    stripEnumPrefix = false,
    hideUnspecified = false,
    maps = 'entries',
    oneofs = 'fields',
    uploads = false,
    typeNames = {},
    fields = {},
  } = source
  return { fieldNames, int64, stripEnumPrefix, hideUnspecified, maps, oneofs, uploads, typeNames, fields }
}

function warnOnce(logger: Logger, sourceName: string): (enumName: string, number: number) => void {
  const seen = new Set<string>()
  return (enumName, number) => {
    const key = `${enumName} ${number}`
    // A hostile backend could send every number there is.
    if (seen.has(key) || seen.size >= 1_000) return
    seen.add(key)
    logger.warn(
      `grpc source "${sourceName}": ${enumName} has no value ${number}; it reads as null. The protos are older than the backend`,
    )
  }
}

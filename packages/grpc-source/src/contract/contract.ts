import type { VariesBy } from '@vinyasa/invalidation'
import type { LoadedDescriptors } from '../descriptors/load.ts'
import type { Finding } from '../errors.ts'
import type { GrpcSourceOptions, MappingOptions } from '../options.ts'
import { variesByOf } from '../runtime/metadata.ts'
import type { Annotations } from './annotations.ts'
import { createExposure, exposeMethods, findMethod, joinedMethods, type ExposedMethod } from './methods.ts'
import { createTypeNames, type TypeNames } from './names.ts'
import { createShapes, type Shapes } from './shapes.ts'
import { findUsedTypes } from './used-types.ts'
import type { DescMessage, DescMethod, FileRegistry } from '@bufbuild/protobuf'
import { groupBy, type NamedSource } from '@vinyasa/source-kit'
import { shortName } from './graphql-names.ts'
import { nearestNames } from '@vinyasa/core'

type Settings = Pick<GrpcSourceOptions, 'endpoints' | 'fields' | 'methods' | 'typeNames'>

/**
 * Finds each key of the settings that names nothing of the protos. Taken in silence, one letter too many would send a service
 * to another backend, or leave a field visible that is to be omitted.
 */
function checkNamesInSettings(settings: Settings, registry: FileRegistry): Finding[] {
  const { endpoints = {}, fields = {}, methods = {}, typeNames = {} } = settings
  if ([endpoints, fields, methods, typeNames].every((given) => Object.keys(given).length === 0)) return []
  const named = namesIn(registry)
  const unknown = (
    setting: keyof Settings,
    given: object,
    what: string,
    known: ReadonlySet<string>,
    isKnown = (name: string): boolean => known.has(name),
  ): Finding[] =>
    Object.keys(given)
      .filter((name) => !isKnown(name))
      .map((name) => ({
        message: `${setting}: the protos have no ${what} "${name}"; ${mendOf(name, known)}`,
        path: [setting, name],
      }))
  return [
    ...unknown('methods', methods, 'method', named.methods, (name) => Boolean(findMethod(registry, name))),
    ...unknown('endpoints', endpoints, 'service', named.services),
    ...unknown('typeNames', typeNames, 'message or enum', named.types),
    ...unknown('fields', fields, 'field', named.fields),
  ]
}

function mendOf(name: string, known: ReadonlySet<string>): string {
  const [nearest] = nearestNames(name, known, 1)
  if (nearest !== undefined) return `did you mean "${nearest}"?`
  const [example] = known
  return example === undefined ? 'remove it' : `write the full name, for example "${example}"`
}

function namesIn(registry: FileRegistry): Record<'methods' | 'services' | 'types' | 'fields', Set<string>> {
  const named = {
    methods: new Set<string>(),
    services: new Set<string>(),
    types: new Set<string>(),
    fields: new Set<string>(),
  }
  for (const desc of registry) {
    if (desc.kind === 'service') {
      named.services.add(desc.typeName)
      for (const { name } of desc.methods) named.methods.add(`${desc.typeName}.${name}`)
    }
    if (desc.kind === 'message' || desc.kind === 'enum') named.types.add(desc.typeName)
    if (desc.kind === 'message')
      for (const { name } of desc.fields) named.fields.add(`${desc.typeName}.${name}`)
  }
  return named
}

/**
 * Statements of a proto (`triggers`, `depends_on`) and of settings name messages by their short names, whatever the schema calls
 * them. Returns what those of one method mean: the message of its own package where there is one, else each of that name.
 */
function createTypesMeant(
  messages: Iterable<DescMessage>,
  names: TypeNames,
): (method: DescMethod) => NamedSource['typesMeant'] {
  const all = [...messages]
  const byShortName = groupBy(all, shortName)
  return (method) => (stated) => {
    const called = byShortName.get(stated) ?? []
    const own = called.filter(({ file }) => file.proto.package === method.parent.file.proto.package)
    const meant = new Set((own.length > 0 ? own : called).map((message) => names.of(message)))
    // The short name may be that of another message, which nobody means.
    const isOthers = meant.size > 0 && all.some((message) => names.of(message) === stated)
    return isOthers ? [...meant] : [...new Set([...meant, stated])]
  }
}

/** How messages look in GraphQL, with the defaults. */
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

export interface ContractOptions extends LoadedDescriptors {
  readonly annotations: Annotations
  readonly source: GrpcSourceOptions
}

/** What descriptors and options say together, before anything of GraphQL is made of it. */
export interface Contract {
  readonly shapes: Shapes
  readonly exposed: readonly ExposedMethod[]
  /** Methods that joins and entities call, whether they are exposed or not. */
  readonly joined: ReturnType<typeof joinedMethods>
  readonly names: TypeNames
  /** The types that statements of a method mean. */
  readonly typesMeant: ReturnType<typeof createTypesMeant>
  /** States for whom the answers of all fields are; undefined: everybody. */
  readonly variesBy: VariesBy | undefined
  /** Notes on what is called otherwise than its protos say, and on what is left out. Whoever reads on adds to them. */
  readonly notes: string[]
  /** Mistakes; whoever reads on adds to them. */
  readonly findings: Finding[]
}

export function readContract({ registry, files, isOwn, annotations, source }: ContractOptions): Contract {
  const { name, expose = 'annotated', methods: overrides = {}, typeNaming: naming = 'short' } = source
  const findings = checkNamesInSettings(source, registry)
  const notes: string[] = []
  const shapes = createShapes(annotations, toMappingOptions(source), findings)
  const exposure = createExposure(expose, ({ parent }) => isOwn(parent))
  const exposed = exposeMethods({ files, annotations, exposure, overrides, findings, notes })
  const joined = joinedMethods(source, registry)
  const used = findUsedTypes([...exposed, ...joined], shapes)
  const names = createTypeNames({ naming, used, shapes, findings, notes })
  const typesMeant = createTypesMeant(used.outputs, names)
  return {
    shapes,
    exposed,
    joined,
    names,
    typesMeant,
    variesBy: variesByOf(name, source),
    notes,
    findings,
  }
}

/** Files that define no methods are nobody's mistake; where methods were chosen, choosing none is, unless joins call some. */
export function noteNoMethods(
  { exposed, joined, notes, findings }: Contract,
  { expose }: GrpcSourceOptions,
): void {
  if (exposed.length > 0 || joined.length > 0) return
  const message = 'no method is exposed'
  const fix =
    'annotate a method with (graphql.schema), set methods["package.Service.Method"].schema, or set expose: "all"'
  if (expose === 'all')
    notes.push(
      `${message}, because the given proto files define no methods, or the setting methods excludes all of them`,
    )
  else findings.push({ message: `${message}; ${fix}`, path: ['expose'] })
}

import { hash } from 'node:crypto'
import {
  type DocumentNode,
  getNamedType,
  getOperationAST,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
  print,
  type SelectionNode,
  stripIgnoredCharacters,
  visit,
} from 'graphql'
import {
  createDependencies,
  createDependencyCache,
  type Dependence,
  type Dependencies,
  describeOperationVariesBy,
  type SelectedField,
  selectOperation,
  type VariesBy,
} from '@vinyasa/invalidation'
import {
  createOperationMemo,
  type Fragments,
  fragmentsOf,
  usedFragments,
  usedVariables,
} from '@vinyasa/core/documents'
import type { PreparedDocument } from '@vinyasa/core/pipeline'
import type { OperationAccess, ResponseCacheOptions } from '../options.ts'
import { changedEntities, createEntityPlan, type EntityPlan } from './entities.ts'
import { anyTag, type InvalidationTarget } from '../store/entry.ts'
import { cacheControlOf } from './cache-control.ts'

/** The declared lifetime and scope, from all declarations. */
interface Statements {
  /** The shortest of all lifetimes. */
  readonly ttlMs: number | undefined
  readonly isPrivate: boolean
}

/**
 * Returns the types of an operation: its root type, the parent and return types of its fields, the possible types of
 * these, and their interfaces.
 */
function touchedTypes(
  schema: GraphQLSchema,
  operation: OperationTypeNode,
  fields: readonly SelectedField[],
): ReadonlySet<GraphQLNamedType> {
  const touched = new Set<GraphQLNamedType>()

  function touch(type: GraphQLNamedType): void {
    if (touched.has(type)) return
    touched.add(type)
    if (isAbstractType(type)) schema.getPossibleTypes(type).forEach(touch)
    if (isObjectType(type) || isInterfaceType(type)) for (const one of type.getInterfaces()) touched.add(one)
  }

  const root = schema.getRootType(operation)
  if (root) touch(root)
  for (const { parent, definitions } of fields) {
    touch(parent)
    for (const { field } of definitions) touch(getNamedType(field.type))
  }
  return touched
}

/**
 * Collects the declarations of a field, of the interface field that it implements, and of every type in the operation.
 */
function collectStatements(
  schema: GraphQLSchema,
  touched: ReadonlySet<GraphQLNamedType>,
  fields: readonly SelectedField[],
  { ttlMsBySchemaCoordinate = {} }: Pick<ResponseCacheOptions, 'ttlMsBySchemaCoordinate'>,
): Statements {
  const ttls: number[] = []
  let isPrivate = false

  function note(coordinate: string, definition: GraphQLField<unknown, unknown> | GraphQLNamedType): void {
    const control = cacheControlOf(definition)
    if (control?.maxAgeSeconds !== undefined) ttls.push(control.maxAgeSeconds * 1000)
    if (control?.isPrivate) isPrivate = true
    const ttlMs = Object.hasOwn(ttlMsBySchemaCoordinate, coordinate)
      ? ttlMsBySchemaCoordinate[coordinate]
      : undefined
    if (ttlMs !== undefined) ttls.push(ttlMs)
  }

  for (const type of touched) note(type.name, type)
  for (const { typeName, field } of fields.flatMap(({ definitions }) => definitions)) {
    note(`${typeName}.${field.name}`, field)
    const type = schema.getType(typeName)
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const parent of type.getInterfaces()) {
      const inherited = parent.getFields()[field.name]
      if (inherited) note(`${parent.name}.${field.name}`, inherited)
    }
  }
  return { ttlMs: ttls.length > 0 ? Math.min(...ttls) : undefined, isPrivate }
}

/** The cache's data about one operation. It is computed once per document and schema. */
export interface DocumentProfile
  extends Omit<NormalizedDocument, 'document' | 'operation' | 'text'>, Statements {
  readonly schema: GraphQLSchema
  readonly operation: `${OperationTypeNode}`
  /** Identifies the operation. It is equal for all spellings of the operation. */
  readonly digest: string
  /** The types that a query result depends on, or that a mutation changes. */
  readonly dependence: Dependence
  /** The parts of the caller's identity that the sources of the fields declare. */
  readonly variesBy: VariesBy
  /** The rule for sharing the results, on servers with field rules. */
  readonly access: OperationAccess | undefined
  /** Lower-case names of the request headers in the keys: the headers that sources read and those of the options. */
  readonly varyNames: readonly string[]
  /** Determines the entities that a result depends on. It is created on first use, because most strategies need none. */
  readonly entities: EntityPlan
  /** Returns the entities that a mutation changed. */
  changedIn(data: unknown): readonly InvalidationTarget[]
  /** Tags of the types that every result of the document depends on. */
  readonly tags: readonly string[]
}

/** The options of the cache. If `varyHeaders` is empty, no header is in every key. */
interface ProfileOptions extends Pick<
  ResponseCacheOptions,
  'ttlMsBySchemaCoordinate' | 'varyHeaders' | 'access' | 'idFields'
> {}

/** Returns `undefined` if the operation cannot be determined. The execution then reports the error. */
export function profileDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  options: ProfileOptions,
  dependencies: Dependencies = createDependencies(schema, options),
): DocumentProfile | undefined {
  const normalized = normalizeDocument(document, operationName)
  if (!normalized) return undefined
  const { document: bare, operation: definition, text, ...asked } = normalized
  const { operation } = definition
  const fields = selectOperation(schema, bare, undefined)?.fields ?? []
  const touched = touchedTypes(schema, operation, fields)
  const statements = collectStatements(schema, touched, fields, options)
  const root = schema.getRootType(operation)
  const types = [...touched].filter((type) => isObjectType(type) && type !== root).map(({ name }) => name)
  const dependence = operation === 'mutation' ? dependencies.ofMutation(bare) : dependencies.ofOperation(bare)
  const variesBy = describeOperationVariesBy(schema, bare)
  const varyNames = [...(options.varyHeaders ?? []).map((name) => name.toLowerCase()), ...variesBy.headers]
  const plan = { schema, document: bare, dependencies }
  let entities: EntityPlan | undefined
  return {
    schema,
    operation,
    digest: hash('sha256', text, 'base64url'),
    ...asked,
    dependence,
    variesBy,
    access: options.access?.({ schema, document: bare }),
    varyNames: [...new Set(varyNames)].sort(),
    ...statements,
    get entities() {
      return (entities ??= createEntityPlan(plan))
    },
    changedIn: (data) => changedEntities(plan, dependence.everything ? [] : dependence.types, data),
    tags: dependence.everything ? [...types, anyTag].sort() : [...dependence.types].sort(),
  }
}

/** Returns `undefined` if the operation cannot be determined. */
export type ProfileOf = (prepared: PreparedDocument) => DocumentProfile | undefined

/** Computes a profile once for each operation of a document. */
export function createProfileCache(options: ProfileOptions): ProfileOf {
  const dependenciesOf = createDependencyCache({ idFields: options.idFields })
  const profiles = createOperationMemo<DocumentProfile | undefined>()
  return (prepared) =>
    profiles(prepared, () => {
      const { schema, document, operationName } = prepared
      return profileDocument(schema, document, operationName, options, dependenciesOf(schema))
    })
}

interface NormalizedDocument {
  /** The selected operation and its fragments, without the delivery directives. */
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** A string that is equal for all spellings of the operation. */
  readonly text: string
  /** The declared and used variables of the operation, sorted. */
  readonly variableNames: readonly string[]
  /** Whether the client requested incremental delivery. */
  readonly incremental: boolean
  /** Whether the client requested a live query. */
  readonly live: boolean
  /** Whether the operation contains introspection. */
  readonly introspection: boolean
}

/** These directives change the delivery of a result, but not the result. */
const deliveryDirectives: ReadonlySet<string> = new Set(['defer', 'stream', 'live'])

/** Returns undefined when the operation cannot be determined. */
export function normalizeDocument(
  document: DocumentNode,
  operationName: string | null | undefined,
): NormalizedDocument | undefined {
  const selected = getOperationAST(document, operationName)
  if (!selected) return undefined
  let incremental = false
  let live = false
  let introspection = false
  const fragments = usedFragments(selected, fragmentsOf(document)).sort((a, b) =>
    a.name.value < b.name.value ? -1 : 1,
  )
  const bare = visit({ kind: Kind.DOCUMENT, definitions: [selected, ...fragments] } as DocumentNode, {
    Directive(node) {
      if (!deliveryDirectives.has(node.name.value)) return undefined
      if (node.name.value === 'live') live = true
      else incremental = true
      return null
    },
    Field(node) {
      if (node.name.value === '__schema' || node.name.value === '__type') introspection = true
    },
    SelectionSet: {
      leave: (node) => ({ ...node, selections: node.selections.flatMap(unwrapBareFragment) }),
    },
  })
  const [bareOperation, ...others] = bare.definitions
  const operation = withUsedVariables(bareOperation as OperationDefinitionNode, fragmentsOf(bare))
  const normalized: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...others] }
  return {
    document: normalized,
    operation,
    text: stripIgnoredCharacters(print(normalized)),
    variableNames: (operation.variableDefinitions ?? []).map((node) => node.variable.name.value),
    incremental,
    live,
    introspection,
  }
}

/** `... { a b }` equals `a b`. It remains after `@defer` is removed from `... @defer { a b }`. */
function unwrapBareFragment(selection: SelectionNode): readonly SelectionNode[] {
  const isBare =
    selection.kind === Kind.INLINE_FRAGMENT && !selection.typeCondition && !selection.directives?.length
  return isBare ? selection.selectionSet.selections : [selection]
}

function withUsedVariables(
  operation: OperationDefinitionNode,
  fragments: Fragments,
): OperationDefinitionNode {
  const used = usedVariables(operation, fragments)
  const variableDefinitions = (operation.variableDefinitions ?? [])
    .filter((node) => used.has(node.variable.name.value))
    .sort((a, b) => (a.variable.name.value < b.variable.name.value ? -1 : 1))
  return { ...operation, variableDefinitions }
}

import {
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql'

/** One tab of GraphiQL. */
export interface ExampleOperation {
  /** The GraphQL document. */
  readonly query: string
  /** The variables as JSON. */
  readonly variables?: string | undefined
}

const PLAIN = '# A query. Run it with the button or Ctrl-Enter.'
const LIVE = `# A live query. It stays open and shows
# each change as it happens. Run it, then run
# a mutation in another window.`
const DEFERRED = `# A deferred fragment. The fast fields
# arrive first, the slow fields later.`

/**
 * Operations that show what a schema can do: a query, a live query and a deferred one, as far as there are fields
 * for them that need no arguments.
 */
export function examplesFor(schema: GraphQLSchema): readonly ExampleOperation[] {
  const query = schema.getQueryType()
  if (!query) return []
  const candidates = Object.values(query.getFields()).filter((field) => !field.args.some(isRequiredArgument))
  const plain = candidates.find((field) => selectionOf(field) !== undefined)
  const live = candidates.find((field) => selectionOf(field) !== undefined && isLiveCapable(field))
  const deferred = candidates.map((field) => ({ field, slow: nestedField(field) })).find(({ slow }) => slow)
  return [
    ...(plain ? [{ query: `${PLAIN}\nquery First {\n  ${plain.name}${selectionOf(plain)}\n}\n` }] : []),
    ...(live ? [{ query: `${LIVE}\nquery Live @live {\n  ${live.name}${selectionOf(live)}\n}\n` }] : []),
    ...(deferred?.slow ? [{ query: `${DEFERRED}\n${deferredQuery(deferred.field, deferred.slow)}` }] : []),
  ]
}

function deferredQuery(field: AnyField, slow: AnyField): string {
  const quick = leavesOf(field) ?? '__typename'
  return `query Deferred {\n  ${field.name} {\n    ${quick}\n    ... @defer {\n      ${slow.name}${selectionOf(slow)}\n    }\n  }\n}\n`
}

type AnyField = GraphQLField<unknown, unknown>

function isLiveCapable(field: AnyField): boolean {
  const options = field.extensions['liveQuery']
  return typeof options === 'object' && options !== null && 'enabled' in options && options.enabled === true
}

/** ` { a b }` with the leaves of the field's type, nothing for a leaf; undefined where there is nothing to select. */
function selectionOf(field: AnyField): string | undefined {
  const type = getNamedType(field.type)
  if (isLeafType(type)) return ''
  if (isAbstractType(type)) return ' { __typename }'
  const leaves = leavesOf(field)
  return leaves === undefined ? undefined : ` { ${leaves} }`
}

function leavesOf(field: AnyField): string | undefined {
  const type = getNamedType(field.type)
  if (!isObjectType(type)) return undefined
  const names = fieldsOf(type)
    .filter(({ type: inner }) => isLeafType(getNamedType(inner)))
    .map(({ name }) => name)
  return names.length > 0 ? names.slice(0, 6).join(' ') : undefined
}

/** An object below the field, worth deferring. */
function nestedField(field: AnyField): AnyField | undefined {
  const type = getNamedType(field.type)
  if (!isObjectType(type)) return undefined
  return fieldsOf(type).find(
    (inner) => isObjectType(getNamedType(inner.type)) && selectionOf(inner) !== undefined,
  )
}

function fieldsOf(type: GraphQLObjectType): readonly AnyField[] {
  return Object.values(type.getFields()).filter((field) => !field.args.some(isRequiredArgument))
}

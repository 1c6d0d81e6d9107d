import { describeVariesBy, toVariesBy, type VariesBy } from '@vinyasa/invalidation'
import {
  defaultFieldResolver,
  getNamedType,
  isAbstractType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import { headersOfTokens } from '../../access/tokens/token-place.ts'
import type { AccessSections } from '../../access/access-types.ts'
import type { AnswerSections } from '../../answers/answer-types.ts'
import type { OwnCodeSections } from '../own-code-types.ts'
import { fieldAt } from '../../coordinates.ts'

/** Hooks that may change results, or what is executed: one that sees the schema may wrap its resolvers. */
const OF_RESULTS = [
  'onParse',
  'onValidate',
  'onExecute',
  'onEnveloped',
  'onPluginInit',
  'onSchemaChange',
] as const

/** Facts about how results depend on who asks, from plugins of the config. */
function pluginVariesBy({ plugins = [] }: Pick<OwnCodeSections, 'plugins'>) {
  return {
    /** Request headers that plugins say they read. */
    headers: plugins.flatMap(({ readsHeaders = [] }) => readsHeaders.map((name) => name.toLowerCase())),
    /** Why nobody can tell for whom any result is. */
    ofResults: plugins.flatMap((plugin, index) =>
      plugin.readsHeaders === undefined && OF_RESULTS.some((hook) => hook in plugin)
        ? [
            `plugins[${index}] may change results depending on the caller; set readsHeaders on the plugin to the request headers that it reads ([] if none)`,
          ]
        : [],
    ),
  }
}

type Field = GraphQLField<unknown, unknown>

/** The sections of the config that decide for whom answers of its code are. */
export type VariesBySections = AnswerSections & OwnCodeSections & Pick<AccessSections, 'auth'>

/**
 * Writes onto each schema for whom answers are that code of the config makes. A field that code resolves is for the client
 * that asks alone, unless `dependencies` states its `variesBy`. With `session` or `contextKey`, all that sources forward, and the
 * token, count besides. Plugins concern every operation.
 */
export function createVariesBy(
  config: VariesBySections,
  sources: readonly (VariesBy | undefined)[],
): (schema: GraphQLSchema) => void {
  const { dependencies = {}, responseCache = false, resolvers, auth } = config
  const { varyHeaders = [] } = typeof responseCache === 'object' ? responseCache : {}
  const { headers: read, ofResults } = pluginVariesBy(config)
  const ofPlugins = toVariesBy(
    [...read, ...(ofResults.length > 0 ? headersOfTokens(auth) : [])],
    textOf(ofResults),
  )
  /** Schemas of one server share their fields. */
  const done = new WeakSet<Field>()

  function variesByOfCode(schema: GraphQLSchema): VariesBy {
    const all = [describeVariesBy(schema), ...sources.filter((variesBy) => variesBy !== undefined)]
    const headers = [...all.flatMap((variesBy) => variesBy.headers), ...headersOfTokens(auth), ...varyHeaders]
    return { headers, isPersonal: true }
  }

  function add(field: Field, variesBy: VariesBy): void {
    if (!done.has(field)) join(field, variesBy)
    done.add(field)
  }

  function stateFields(schema: GraphQLSchema): void {
    const code = new Set(fieldsOfCode(schema, resolvers !== undefined))
    for (const [coordinate, { variesBy }] of Object.entries(dependencies)) {
      const field = fieldAt(schema, coordinate)
      if (field && variesBy)
        add(field, { headers: code.has(field) ? [...variesBy, ...varyHeaders] : variesBy })
    }
    if (code.size === 0) return
    const ofCode = variesByOfCode(schema)
    for (const field of code) add(field, ofCode)
  }

  return (schema) => {
    // A schema that is made of another has its extensions; what concerns all of it is not a field's.
    schema.extensions = { ...schema.extensions, variesBy: undefined }
    stateFields(schema)
    schema.extensions = { ...schema.extensions, variesBy: ofPlugins }
  }
}

function textOf(reasons: readonly string[]): string | undefined {
  return reasons.length > 0 ? [...new Set(reasons)].sort().join('; ') : undefined
}

/** Adds to what a source has said of the field, if one has. */
function join(field: Field, { headers, unknown, isPersonal }: VariesBy): void {
  const before = field.extensions['variesBy'] as VariesBy | undefined
  const both = toVariesBy(
    [...(before?.headers ?? []), ...headers],
    textOf([before?.unknown, unknown].flatMap((reason) => reason ?? [])),
  )
  const variesBy = { headers: [], ...both, ...((isPersonal || before?.isPersonal) && { isPersonal: true }) }
  field.extensions = { ...field.extensions, variesBy }
}

/**
 * Returns the fields of queries that code resolves, or whose type code chooses. They are known by having no `extensions.origin`,
 * whatever the shape of the config. `_entities` may call any of them.
 */
export function fieldsOfCode(schema: GraphQLSchema, hasResolvers: boolean): readonly Field[] {
  const roots = new Set([schema.getMutationType(), schema.getSubscriptionType()])
  const isChosen = (type: GraphQLNamedType): boolean =>
    type.extensions['ownCode'] === true ||
    (isAbstractType(type) && schema.getPossibleTypes(type).some(isChosen))
  const found: Field[] = []
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || roots.has(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const { resolve = defaultFieldResolver, extensions } = field
      const isCode = extensions['origin'] === undefined && resolve !== defaultFieldResolver
      if (isCode || isChosen(getNamedType(field.type))) found.push(field)
    }
  }
  const lookup = schema.getQueryType()?.getFields()['_entities']
  return lookup && (hasResolvers || found.length > 0) ? [...found, lookup] : found
}

import { describeAsker, toAsker, type Asker } from '@vinyasa/invalidation'
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
import { pluginAskers } from './plugin-askers.ts'

type Field = GraphQLField<unknown, unknown>

/** The sections of the config that decide for whom answers of its code are. */
export type AskerSections = AnswerSections & OwnCodeSections & Pick<AccessSections, 'auth'>

/**
 * Writes onto each schema for whom answers are that code of the config makes. A field that code resolves is for the client
 * that asks alone, unless `dependencies` states its `asker`. With `session` or `contextKey`, all that sources forward, and the
 * token, count besides. Plugins concern every operation.
 */
export function createAskerStatements(
  config: AskerSections,
  sources: readonly (Asker | undefined)[],
): (schema: GraphQLSchema) => void {
  const { dependencies = {}, responseCache = false, resolvers, auth } = config
  const { varyHeaders = [] } = typeof responseCache === 'object' ? responseCache : {}
  const { headers: read, ofResults } = pluginAskers(config)
  const ofPlugins = toAsker(
    [...read, ...(ofResults.length > 0 ? headersOfTokens(auth) : [])],
    textOf(ofResults),
  )
  /** Schemas of one server share their fields. */
  const done = new WeakSet<Field>()

  function askerOfCode(schema: GraphQLSchema): Asker {
    const all = [describeAsker(schema), ...sources.filter((asker) => asker !== undefined)]
    const headers = [...all.flatMap((asker) => asker.headers), ...headersOfTokens(auth), ...varyHeaders]
    return { headers, isPersonal: true }
  }

  function add(field: Field, asker: Asker): void {
    if (!done.has(field)) join(field, asker)
    done.add(field)
  }

  function stateFields(schema: GraphQLSchema): void {
    const code = new Set(fieldsOfCode(schema, resolvers !== undefined))
    for (const [coordinate, { asker }] of Object.entries(dependencies)) {
      const field = fieldAt(schema, coordinate)
      if (field && asker) add(field, { headers: code.has(field) ? [...asker, ...varyHeaders] : asker })
    }
    if (code.size === 0) return
    const ofCode = askerOfCode(schema)
    for (const field of code) add(field, ofCode)
  }

  return (schema) => {
    // A schema that is made of another has its extensions; what concerns all of it is not a field's.
    schema.extensions = { ...schema.extensions, asker: undefined }
    stateFields(schema)
    schema.extensions = { ...schema.extensions, asker: ofPlugins }
  }
}

function textOf(reasons: readonly string[]): string | undefined {
  return reasons.length > 0 ? [...new Set(reasons)].sort().join('; ') : undefined
}

/** Adds to what a source has said of the field, if one has. */
function join(field: Field, { headers, unknown, isPersonal }: Asker): void {
  const before = field.extensions['asker'] as Asker | undefined
  const both = toAsker(
    [...(before?.headers ?? []), ...headers],
    textOf([before?.unknown, unknown].flatMap((reason) => reason ?? [])),
  )
  const asker = { headers: [], ...both, ...((isPersonal || before?.isPersonal) && { isPersonal: true }) }
  field.extensions = { ...field.extensions, asker }
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

import type { Finding } from '@vinyasa/base'
import {
  getNamedType,
  GraphQLString,
  isInputObjectType,
  isInputType,
  isInterfaceType,
  isObjectType,
  parseType,
  typeFromAST,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLSchema,
} from 'graphql'
import { mergeSources } from '../schema/merge-sources.ts'
import type { ContributedArgument, ContributedField, Source } from '../schema/source.ts'
import { decideNames, type Names } from './decide-names.ts'
import { defaultValueOf } from './default-value.ts'
import { argumentAt, partOf, type Element } from './elements.ts'
import { SourceNamesError, type SourceNames } from './options.ts'
import { OwnValues } from './own-values.ts'
import { rebuildSchema } from './rebuild-schema.ts'
import { withOwnArguments } from '../own/stand-ins.ts'
import { valuesFor, withValues } from './rename-field.ts'
import { meantBy, renamedStatements } from './statements.ts'

/** Source with the names that clients use. */
export interface NamedSource {
  readonly source: Source
  /**
   * Returns the client name of a type of the source; `undefined` if it is hidden. Names of other sources are
   * unchanged.
   */
  typeNamed(own: string): string | undefined
  /** Returns the client name of a field of the source; `undefined` if it is hidden. */
  fieldNamed(type: string, own: string): string | undefined
  /** Returns the client names that a type name in the source's own declarations can refer to. */
  typesMeant(own: string): readonly string[]
}

/**
 * Renames or hides types and fields of a source.
 * @throws SourceNamesError with all invalid names
 */
export function nameSource(source: Source, options: SourceNames): NamedSource {
  const { prefix, rename, hide } = options
  if (!prefix && !rename && !hide)
    return { source, typeNamed: (own) => own, fieldNamed: (_, own) => own, typesMeant: (own) => [own] }
  const joins = source.fields.filter(({ isJoin }) => isJoin)
  const { schema, pending } = mergeSources(null, [
    { ...source, fields: source.fields.filter(({ isJoin }) => !isJoin) },
  ])
  const waiting = pending.map(({ field }) => field)
  const own = new Set(source.types?.keys())
  const { names: decided, findings } = decideNames(schema, own, options, waiting.flatMap(elementsIn))
  if (findings.length > 0) throw new SourceNamesError(findings)
  const names = withoutReplaced(schema, decided, joins)
  const ownValues = new OwnValues(schema, names)
  const unfit = unfitDefaults(schema, ownValues)
  if (unfit.length > 0) throw new SourceNamesError(unfit)
  const toClient = { schema, names, ownValues }
  const types = [...(source.types ?? [])].flatMap(([name, description]): [string, string | undefined][] => {
    const client = clientOf(names, name)
    return client === undefined ? [] : [[client, description]]
  })
  return {
    source: {
      ...source,
      schema: rebuildSchema(schema, names, own, ownValues),
      fields: [...waiting, ...joins].flatMap((field) => contributedTo(toClient, field)),
      types: new Map(types),
    },
    typeNamed: (name) => clientOf(names, name),
    fieldNamed: (type, name) => clientOf(names, partOf(type, name).coordinate, name),
    typesMeant: meantBy(names),
  }
}

function clientOf(names: Names, coordinate: string, own = coordinate): string | undefined {
  const client = names.get(coordinate)
  return client === null ? undefined : (client ?? own)
}

/** A field that waits for a type of another source has a name like all others. */
function elementsIn({ parent, name, type, args = {} }: ContributedField): Element[] {
  const { coordinate } = partOf(parent, name)
  const field = {
    name,
    parent,
    coordinate,
    type: namedIn(String(type)),
    isRequired: false,
    kind: 'field' as const,
  }
  return [
    field,
    ...Object.entries(args).map(([argument, given]): Element => {
      const text = String(typeof given === 'string' ? given : given.type)
      return {
        name: argument,
        coordinate: argumentAt(coordinate, argument),
        parent: coordinate,
        type: namedIn(text),
        isRequired: text.endsWith('!') && (typeof given === 'string' || given.defaultValue === undefined),
        kind: 'argument',
      }
    }),
  ]
}

function namedIn(text: string): string {
  return text.replaceAll(/[[\]!]/g, '')
}

/** A join takes the place of what the source itself joins there. */
function withoutReplaced(schema: GraphQLSchema, names: Names, joins: readonly ContributedField[]): Names {
  const replaced = new Set(joins.map(({ parent, name }) => `${parent}.${name}`))
  const kept = new Map(names)
  for (const type of Object.values(schema.getTypeMap()))
    for (const field of 'getFields' in type ? Object.values(type.getFields()) : []) {
      const { coordinate } = partOf(type.name, field.name)
      const place = `${names.get(type.name) ?? ''}.${names.get(coordinate) ?? ''}`
      if (replaced.has(place) && field.extensions['requires'] !== undefined) kept.set(coordinate, null)
    }
  return kept
}

/** Defaults that the scalars which clients know cannot hold. */
function unfitDefaults(schema: GraphQLSchema, ownValues: OwnValues): readonly Finding[] {
  const found: Finding[] = []
  const check = (coordinate: string, element: GraphQLArgument | GraphQLInputField): void => {
    try {
      ownValues.defaultOf(element.type, defaultValueOf(element))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      found.push({
        message: `rename: the default of ${coordinate} is not valid for the new scalar (${error.message}); keep the name of the scalar, or change the default`,
        path: ['rename', getNamedType(element.type).name],
      })
    }
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields()))
        check(partOf(type.name, field.name).coordinate, field)
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const field of Object.values(type.getFields()))
      for (const argument of field.args)
        check(argumentAt(partOf(type.name, field.name).coordinate, argument.name), argument)
  }
  return found
}

interface ToClient {
  readonly schema: GraphQLSchema
  readonly names: Names
  readonly ownValues: OwnValues
}

/** The parent and name of a join are the server's; its type and what it states are the source's. */
function contributedTo({ schema, names, ownValues }: ToClient, field: ContributedField): ContributedField[] {
  const { parent, name, args = {}, extensions = {}, isJoin = false } = field
  // The arguments of a join are called as they are: its place is none of the source's own.
  const coordinate = isJoin ? '' : partOf(parent, name).coordinate
  const clientName = isJoin ? name : clientOf(names, coordinate, name)
  const clientParent = isJoin ? parent : clientOf(names, parent)
  if (clientName === undefined || clientParent === undefined) return []
  if (clientOf(names, namedIn(String(field.type))) === undefined) return []
  const asOwn = Object.entries(args).map(([argument, given]) => {
    const full: ContributedArgument = typeof given === 'string' ? { type: given } : given
    const type = typeFromAST(schema, parseType(String(full.type)) as never) as unknown
    // In values of another source's type everything is called as that source says.
    return { ...full, name: argument, type: isInputType(type) ? type : GraphQLString } as GraphQLArgument
  })
  const toOwn = ownValues.arguments(coordinate, asOwn)
  const toValue = valuesFor(names, namedIn(String(field.type)), `${clientParent}.${clientName}`)
  return [
    {
      ...field,
      parent: clientParent,
      name: clientName,
      type: textOf(names, field.type),
      args: Object.fromEntries(
        Object.entries(args).flatMap(([argument, given], index) => {
          const client = clientOf(names, argumentAt(coordinate, argument), argument)
          if (client === undefined) return []
          const full: ContributedArgument = typeof given === 'string' ? { type: given } : given
          const defaultValue = ownValues.defaultOf((asOwn[index] as GraphQLArgument).type, full.defaultValue)
          return [[client, { ...full, type: textOf(names, full.type), defaultValue }]]
        }),
      ),
      resolve: withValues(withOwnArguments(field.resolve, toOwn), toValue),
      subscribe: withOwnArguments(field.subscribe, toOwn),
      extensions: {
        ...renamedStatements(extensions ?? {}, meantBy(names)),
        ...(clientName !== name && { ownName: name }),
      },
    },
  ]
}

function textOf(names: Names, type: unknown): string {
  return String(type).replaceAll(/\w+/g, (name) => names.get(name) ?? name)
}

import {
  defaultFieldResolver,
  getNamedType,
  type GraphQLArgument,
  type GraphQLArgumentConfig,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldResolver,
  type GraphQLInputFieldConfig,
  type GraphQLOutputType,
  type GraphQLSchema,
} from 'graphql'
import { memberReader } from '../own/members.ts'
import { standInFor, standInOf, withOwnArguments } from '../own/stand-ins.ts'
import type { TypeOf } from '../schema/type-of.ts'
import type { Names } from './decide-names.ts'
import { defaultValueOf } from './default-value.ts'
import { argumentAt, partOf } from './elements.ts'
import { renamedFieldSets } from './field-sets.ts'
import type { OwnValues } from './own-values.ts'
import { standardScalar, standardValues } from './standard-scalars.ts'
import { meantBy, renamedStatements } from './statements.ts'

type FieldConfig = GraphQLFieldConfig<unknown, unknown>
type Resolver = GraphQLFieldResolver<unknown, unknown>
type Extensions = Readonly<Record<string, unknown>>

/** Gives fields what they need to work under another name than the source's own. */
export interface FieldNamer {
  field(type: string, own: string, client: string, config: FieldConfig): FieldConfig
  input(config: GraphQLInputFieldConfig): GraphQLInputFieldConfig
}

export function createFieldNamer(
  schema: GraphQLSchema,
  names: Names,
  ownValues: OwnValues,
  typeOf: TypeOf,
): FieldNamer {
  function input<Config extends GraphQLArgumentConfig | GraphQLInputFieldConfig>(config: Config): Config {
    const { type } = config
    const defaultValue = defaultValueOf(config)
    return {
      ...config,
      type: typeOf(type),
      // A config of graphql 17 has `default`, and may not have `defaultValue` beside it.
      default: undefined,
      ...(defaultValue !== undefined && { defaultValue: ownValues.defaultOf(type, defaultValue) }),
    }
  }

  function argumentsAt(
    coordinate: string,
    args: GraphQLFieldConfigArgumentMap,
  ): GraphQLFieldConfigArgumentMap {
    return Object.fromEntries(
      Object.entries(args).flatMap(([own, config]) => {
        const client = names.get(argumentAt(coordinate, own))
        return client === null ? [] : [[client ?? own, input(config)] as const]
      }),
    )
  }

  return {
    input,
    field(type, own, client, config) {
      const { coordinate } = partOf(type, own)
      const { args = {}, extensions = {} } = config
      const toOwn = ownValues.arguments(coordinate, argumentsOf(args))
      const isReader = config.resolve === undefined || config.resolve === defaultFieldResolver
      const isRenamed = own !== client
      const toValue = valuesFor(names, getNamedType(config.type).name, `${names.get(type) ?? type}.${client}`)
      const reader = isReader && (isRenamed || toValue) ? memberReader(own) : config.resolve
      return {
        ...config,
        type: typeOf(config.type),
        args: argumentsAt(coordinate, args),
        resolve: withValues(withOwnArguments(reader, toOwn), toValue, config.type),
        subscribe: withOwnArguments(config.subscribe, toOwn),
        extensions: {
          // A reader of our own is no source of its own.
          ...(isRenamed && { origin: `${type}.${own}` }),
          ...renamedStatements(extensions as Extensions, meantBy(names)),
          ...(isRenamed && { ownName: own }),
          ...requiresOf(type, extensions as Extensions),
          ...renamedFieldSets(schema, names, extensions as Extensions, {
            type,
            given: getNamedType(config.type).name,
          }),
        },
      }
    },
  }

  /** Returns the fields of its parent that a field reads, as clients call them. */
  function requiresOf(type: string, { requires }: Extensions): Extensions {
    if (!Array.isArray(requires)) return {}
    return {
      requires: requires.map((own: unknown) => names.get(partOf(type, String(own)).coordinate) ?? own),
    }
  }
}

/** The values of a field whose scalar is one of GraphQL's own for clients; undefined where it is none, or all fit. */
export function valuesFor(names: Names, own: string, place: string): ReturnType<typeof standardValues> {
  return standardValues(standardScalar(own, names.get(own) ?? own), place)
}

/** Calls a resolver for values that clients' scalars have. */
export function withValues<Given extends Resolver | undefined>(
  resolver: Given,
  toValue: ReturnType<typeof standardValues>,
  type?: GraphQLOutputType,
): Given | Resolver {
  if (!resolver || !toValue) return resolver
  const standing: Resolver = (source, args, context, info) => toValue(resolver(source, args, context, info))
  return standInFor(standing, { ...standInOf(resolver), type })
}

/** Returns the arguments as a field of a schema has them. */
function argumentsOf(args: GraphQLFieldConfigArgumentMap): GraphQLArgument[] {
  return Object.entries(args).map(([name, config]) => ({ ...config, name }) as GraphQLArgument)
}

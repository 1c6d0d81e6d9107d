import type { GraphQLField, GraphQLFieldResolver, GraphQLOutputType } from 'graphql'

type Resolver = (...args: never[]) => unknown
type Arguments = Readonly<Record<string, unknown>>

/** A resolver that does what another does, for a field whose arguments are called otherwise, or whose values are checked. */
export interface StandIn {
  readonly resolve: Resolver
  /** The arguments as the source calls them; undefined: clients use the same. */
  readonly argumentsOf: ((args: Arguments) => Record<string, unknown>) | undefined
  /** The type that the field has in its source; undefined: the one that clients know. */
  readonly type?: GraphQLOutputType | undefined
  /** The type by whose scalars values are serialized; undefined: the one that clients know. */
  readonly written?: GraphQLOutputType | undefined
}

/** By the resolver that stands in; one for all servers, as resolvers are. */
const standIns = new WeakMap<Resolver, StandIn>()

export function standInFor<Own extends Resolver>(resolver: Own, standIn: StandIn): Own {
  standIns.set(resolver, standIn)
  return resolver
}

/** What a resolver that stands in for this one stands in for. */
export function standInOf(resolver: Resolver): StandIn {
  return standIns.get(resolver) ?? { resolve: resolver, argumentsOf: undefined }
}

/** Returns a field with the type and resolver of its source. Joins read it this way, whatever scalar clients see. */
export function asOwn<Field extends Pick<GraphQLField<unknown, unknown>, 'resolve' | 'type'>>(
  field: Field,
): Pick<Field, 'resolve' | 'type'> {
  const standIn = field.resolve && standIns.get(field.resolve)
  if (!standIn?.type || standIn.argumentsOf) return field
  return { resolve: standIn.resolve as Field['resolve'], type: standIn.type }
}

/** Returns the type whose scalars serialize the values of a field. */
export function writtenType({
  resolve,
  type,
}: Pick<GraphQLField<unknown, unknown>, 'resolve' | 'type'>): GraphQLOutputType {
  return (resolve && standIns.get(resolve)?.written) ?? type
}

/** Calls a resolver with the arguments as the source has them. */
export function withOwnArguments<Given extends GraphQLFieldResolver<unknown, unknown> | undefined>(
  resolver: Given,
  argumentsOf: StandIn['argumentsOf'],
): Given | GraphQLFieldResolver<unknown, unknown> {
  if (!resolver || !argumentsOf) return resolver
  const before = standInOf(resolver)
  const { argumentsOf: next } = before
  return standInFor<GraphQLFieldResolver<unknown, unknown>>(
    (source, args, context, info) => resolver(source, argumentsOf(args as Arguments), context, info),
    { ...before, argumentsOf: next ? (args) => next(argumentsOf(args)) : argumentsOf },
  )
}

/** Gives a source arguments under its own names; undefined where clients use the same. */
export function ownArgumentsOf(resolver: Resolver | undefined): StandIn['argumentsOf'] | undefined {
  return resolver && standIns.get(resolver)?.argumentsOf
}

/**
 * Marks for resolvers of a source. A mark also applies to resolvers that replace a marked resolver after renaming. It
 * does not apply to wrappers by other plugins.
 */
export class ResolverMarks<Mark> {
  readonly #marks = new WeakMap<Resolver, Mark>()

  mark<Own extends Resolver>(resolver: Own, mark: Mark): Own {
    this.#marks.set(resolver, mark)
    return resolver
  }

  of({ resolve }: Pick<GraphQLField<unknown, unknown>, 'resolve'>): Mark | undefined {
    return resolve && this.#marks.get(standIns.get(resolve)?.resolve ?? resolve)
  }
}

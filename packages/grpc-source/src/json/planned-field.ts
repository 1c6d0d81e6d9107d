import type { DescMessage } from '@bufbuild/protobuf'
import type { Turns } from '@vinyasa/core'
import { fieldOf, memberOf, NotPlannable, ResolverMarks } from '@vinyasa/source-kit'
import type { GraphQLField, GraphQLObjectType, GraphQLResolveInfo } from 'graphql'
import type { MethodRuntime } from '../methods/method-runtime.ts'
import type { Arguments } from '../contract/methods.ts'
import type { FieldShape } from '../contract/shapes.ts'
import type { LeafOptions } from '../codec/decode.ts'
import { isFlag } from '../mapping/flags.ts'
import type { PlannableJoin, Transcoder } from './transcoder.ts'

/** The facts about a root field of a source that a plan needs, to do without its resolver. */
export interface PlannableField {
  readonly runtime: MethodRuntime
  readonly output: DescMessage
  /** The response's field that stands for it. */
  readonly pluck: FieldShape | undefined
  /** Adds the selection to the arguments, where the method takes one. */
  readonly withMask: (args: Arguments, info: GraphQLResolveInfo) => Arguments
  readonly codecs: LeafOptions
  /** All plans of a source take turns with it, as it keeps memory. */
  readonly transcoder: Transcoder
  /** The turns of the event loop in which long replies are read. */
  readonly turns: Turns
}

type Mark =
  | { readonly kind: 'method'; readonly method: PlannableField }
  | { readonly kind: 'join'; readonly join: PlannableJoin }

/** The resolvers of sources that a plan can do without. */
export const marks: ResolverMarks<Mark> = new ResolverMarks()

/** A field that ordinary execution reads off the parent. */
export function plainField(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
  const definition = fieldOf(type, name)
  if (!definition) throw new NotPlannable(`the type ${type.name} has no field ${name}`)
  if ((memberOf(definition) === undefined && !isFlag(definition)) || definition.args.length > 0)
    throw new NotPlannable(`${type.name}.${name} has a resolver or arguments`)
  return definition
}

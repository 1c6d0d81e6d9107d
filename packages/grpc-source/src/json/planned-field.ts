import type { DescMessage } from '@bufbuild/protobuf'
import { resolverBehind, type Turns } from '@vinyasa/source-kit'
import type { GraphQLField, GraphQLResolveInfo } from 'graphql'
import type { MethodRuntime } from '../methods/method-runtime.ts'
import type { FieldShape } from '../contract/shapes.ts'
import type { PlannableJoin, Transcoder } from './message-plan.ts'
import type { LeafOptions } from './reply-codecs.ts'

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

type Arguments = Readonly<Record<string, unknown>>
type Mark =
  | { readonly kind: 'method'; readonly method: PlannableField }
  | { readonly kind: 'join'; readonly join: PlannableJoin }

/** A wrapper of a resolver is another resolver, and has no mark. */
const marks = new WeakMap<object, Mark>()

/** Marks a resolver as one that a plan can do without. */
export function markResolver<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  mark: Mark,
): Resolver {
  marks.set(resolve, mark)
  return resolve
}

/** The mark of a field's resolver, unless another plugin has put a resolver of its own there. */
export function markOf({ resolve }: Pick<GraphQLField<unknown, unknown>, 'resolve'>): Mark | undefined {
  return resolve && marks.get(resolverBehind(resolve))
}

import type { DescMessage } from '@bufbuild/protobuf'
import type { GraphQLField, GraphQLResolveInfo } from 'graphql'
import type { MethodRuntime } from '../method-runtime.ts'
import type { FieldShape } from '../schema/shapes.ts'
import type { LeafOptions } from './leaf-writers.ts'
import type { Transcoder } from './transcoder.ts'

/** What a plan needs to know of a root field of a source, to do without its resolver. */
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
}

/** What a plan needs to know of a batched join. */
export interface PlannableJoin {
  readonly runtime: MethodRuntime
  readonly output: DescMessage
  /** The request's field that takes the keys. */
  readonly keysField: string
  /** The response's field that holds the items. */
  readonly items: FieldShape
  readonly itemKey: FieldShape
  /** The parent's field that is its key. */
  readonly parentKey: string
  readonly many: boolean
  readonly maxBatchSize: number
  readonly codecs: LeafOptions
  readonly transcoder: Transcoder
  /** What the field's resolver gives for a key that a reply answers. */
  readonly valuesIn: (reply: Uint8Array) => (key: string) => unknown
}

type Arguments = Readonly<Record<string, unknown>>
type Mark =
  | { readonly kind: 'method'; readonly method: PlannableField }
  | { readonly kind: 'join'; readonly join: PlannableJoin }
  | { readonly kind: 'flag' }

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
  return resolve && marks.get(resolve)
}

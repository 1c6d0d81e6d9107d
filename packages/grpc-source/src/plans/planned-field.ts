import type { DescMessage } from '@bufbuild/protobuf'
import type { GraphQLField, GraphQLResolveInfo } from 'graphql'
import type { MethodRuntime } from '../method-runtime.ts'
import type { CallSite } from '../runtime/invoker.ts'
import type { FieldShape } from '../schema/shapes.ts'
import type { LeafOptions } from './leaf-writers.ts'
import type { RecordedReplies } from './recorded-replies.ts'
import type { Transcoder } from './transcoder.ts'

const PLANNED = Symbol.for('@vinyasa/grpc-source planned field')

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
  readonly recorded: RecordedReplies
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
  /** Keeps what a call brought, for the ordinary execution that takes the plan's place. */
  readonly keep: (site: CallSite, keys: readonly string[], reply: Promise<Uint8Array>) => void
}

type Arguments = Readonly<Record<string, unknown>>
type Mark =
  | { readonly kind: 'method'; readonly method: PlannableField }
  | { readonly kind: 'join'; readonly join: PlannableJoin }
  | { readonly kind: 'flag' }

/**
 * Marks a resolver as one that a plan can do without. The mark names the resolver itself, so that a wrapper which took
 * over its properties is not mistaken for it.
 */
export function markResolver<Resolver extends (...args: never[]) => unknown>(
  resolve: Resolver,
  mark: Mark,
): Resolver {
  return Object.defineProperty(resolve, PLANNED, { value: { resolve, ...mark } })
}

/** The mark of a field's resolver, unless another plugin has put a resolver of its own there. */
export function markOf({ resolve }: Pick<GraphQLField<unknown, unknown>, 'resolve'>): Mark | undefined {
  const mark = (resolve as { readonly [PLANNED]?: Mark & { readonly resolve: unknown } } | undefined)?.[
    PLANNED
  ]
  return mark?.resolve === resolve ? mark : undefined
}

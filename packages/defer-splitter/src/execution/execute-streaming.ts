import type { ExecutionArgs } from 'graphql'
import { type KnownDocument, learnDocument } from '../document/document-cache.ts'
import type { ResolvedOptions } from '../options.ts'
import type { MaybePromise } from '@vinyasa/base'
import { prepareOperation } from './operation.ts'
import { type Executed, StreamingRun } from './streaming-run.ts'

/**
 * Executes the operation, the fields outside `@defer` first. The stream's first part is there as soon as they are;
 * deferred fields start once it is written, or shortly after the first fields did when those take their time, so that
 * both wait at the same time and the work of one does not hold back the other.
 */
export function executeStreaming(
  args: ExecutionArgs,
  options: ResolvedOptions,
  document: KnownDocument = learnDocument(args.document),
): MaybePromise<Executed> {
  const operation = prepareOperation(args, document, options)
  if (!('selections' in operation)) return { errors: [...operation] }
  return new StreamingRun(operation, options, () => abortSignalsOf(args)).execute()
}

/**
 * Lists the signals that tell that the client has left: that of Yoga's request, and those that an execution
 * may be given.
 */
function abortSignalsOf(args: ExecutionArgs): readonly AbortSignal[] {
  const { signal, abortSignal } = args as {
    readonly signal?: AbortSignal
    readonly abortSignal?: AbortSignal
  }
  const ofContext = (args.contextValue as { readonly signal?: AbortSignal } | null | undefined)?.signal
  const signals = [requestOf(args.contextValue)?.signal, ofContext, signal, abortSignal]
  return [...new Set(signals.filter((given) => given !== undefined && given !== null))]
}

/** The Request that Yoga puts into the context. */
function requestOf(contextValue: unknown): { readonly signal?: AbortSignal } | undefined {
  if (typeof contextValue !== 'object' || contextValue === null || !('request' in contextValue)) {
    return undefined
  }
  const { request } = contextValue
  return typeof request === 'object' && request !== null ? request : undefined
}

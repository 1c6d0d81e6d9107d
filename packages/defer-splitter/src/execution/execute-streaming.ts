import type { ExecutionArgs } from 'graphql'
import type { KnownDocument } from '../document/document-cache.ts'
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
  document: KnownDocument,
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
  const context = Object(args.contextValue) as { readonly request?: unknown; readonly signal?: AbortSignal }
  const request = Object(context.request) as { readonly signal?: AbortSignal }
  const signals = [request.signal, context.signal, signal, abortSignal]
  return [...new Set(signals.filter((given) => given !== undefined && given !== null))]
}

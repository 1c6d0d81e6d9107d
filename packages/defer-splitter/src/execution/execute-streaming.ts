import type { ExecutionArgs } from 'graphql'
import type { KnownDocument } from '../document/document-cache.ts'
import type { ResolvedOptions } from '../options.ts'
import { type Abortable, endingOf, type MaybePromise } from '@vinyasa/base'
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
  return new StreamingRun(operation, options, () => endingsOf(args)).execute()
}

/** Lists what tells that the client has left: Yoga's request, the context, and a signal that an execution was given. */
function endingsOf(args: ExecutionArgs): readonly Abortable[] {
  const { abortSignal } = args as { readonly abortSignal?: AbortSignal | null }
  const { request } = Object(args.contextValue) as { readonly request?: unknown }
  const endings = [endingOf(request), endingOf(args.contextValue), endingOf(args), abortSignal]
  return [...new Set(endings.filter((given) => given !== undefined && given !== null))]
}

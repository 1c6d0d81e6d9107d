import { isAsyncIterable, isPromise, createAttachment } from '@vinyasa/base'
import type { Executor, Operation } from '@vinyasa/pipeline'
import type { DocumentCache } from './document/document-cache.ts'
import { executeEagerly } from './eager/eager.ts'
import { executeStreaming } from './execution/execute-streaming.ts'
import type { PartStream } from './execution/part-stream.ts'
import type { ResolvedOptions } from './options.ts'

/** An answer in parts that tells whether its first part has errors: if so, the hooks write it. */
export type Parts = Pick<PartStream, 'hasErrors'>

export const WITH_ERRORS: Parts = { hasErrors: () => true }
export const WITHOUT_ERRORS: Parts = { hasErrors: () => false }

/** Executes operations in parts, and knows which are answered so. */
export class InParts {
  readonly #options: ResolvedOptions
  readonly #documents: DocumentCache
  readonly #parts = createAttachment<Parts>()
  readonly #executed = createAttachment<true>()
  readonly #streamed = new WeakSet<Request>()

  constructor(options: ResolvedOptions, documents: DocumentCache) {
    this.#options = options
    this.#documents = documents
  }

  of(context: object): Parts | undefined {
    return this.#parts.get(context)
  }

  isStreamed(request: Request): boolean {
    return this.#streamed.has(request)
  }

  /** Tells whether the operation was executed in parts: its result is not split again. */
  wasExecuted(context: object): boolean {
    return this.#executed.get(context) === true
  }

  note(
    { context, request }: { readonly context: object; readonly request: Request | undefined },
    parts: Parts,
  ): void {
    this.#parts.set(context, parts)
    if (request) this.#streamed.add(request)
  }

  executorFor(operation: Operation): Executor {
    const noted = (result: unknown): unknown => {
      if (isAsyncIterable(result))
        this.note(operation, 'hasErrors' in result ? (result as Parts & object) : WITH_ERRORS)
      return result
    }
    return (args, ordinarily) => {
      this.#executed.set(operation.context, true)
      const document = this.#documents(args.document)
      const options = this.#options
      const result =
        options.strategy === 'eager'
          ? executeEagerly({ args, document, execute: ordinarily, options })
          : executeStreaming(args, options, document)
      return isPromise(result) ? result.then(noted) : noted(result)
    }
  }
}

import { GraphQLError, type ExecutionResult } from 'graphql'
import { EndLiveQuery, unexpectedError } from '../errors.ts'

/** The stream that graphql-ws consumes: results to send as `next`, or a failure to send as `error`. */
export type ResultStream = AsyncIterable<ExecutionResult>

export async function* single(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result
}

/** A stream that fails at once. */
// oxlint-disable-next-line require-yield -- it has nothing but its failure to say
export async function* failed(error: unknown): AsyncGenerator<ExecutionResult> {
  throw error
}

/**
 * A live operation as graphql-ws sees it: it begins when first asked, says nothing itself, since its frames go to the
 * socket by a shorter way, and ends when the live query does.
 */
export class LiveOperationStream implements AsyncIterableIterator<ExecutionResult> {
  readonly #begin: (end: (errors?: readonly GraphQLError[]) => void) => () => void
  #stop: (() => void) | undefined
  #settle: { resolve(step: IteratorResult<ExecutionResult>): void; reject(error: unknown): void } | undefined
  #done = false

  constructor(begin: (end: (errors?: readonly GraphQLError[]) => void) => () => void) {
    this.#begin = begin
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ExecutionResult>> {
    if (this.#done || this.#settle) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#stop = this.#begin((errors) => this.#end(errors))
    })
  }

  return(): Promise<IteratorResult<ExecutionResult>> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #end(errors?: readonly GraphQLError[]): void {
    if (this.#done) return
    this.#done = true
    this.#stop?.()
    if (errors && errors.length > 0) this.#settle?.reject(new EndLiveQuery(errors))
    else this.#settle?.resolve({ done: true, value: undefined })
  }
}

/** The errors that a failure of an operation shows to the client. Whatever else it was goes to `onError`. */
export function errorsToSend(
  errors: readonly GraphQLError[],
  onError: (error: unknown) => void,
): readonly GraphQLError[] {
  return errors.flatMap((error) => {
    const { originalError, cause } = error as GraphQLError & { readonly cause?: unknown }
    const original: unknown = originalError ?? cause
    if (original instanceof EndLiveQuery) return original.errors
    // graphql-ws wraps errors that a stream throws, without a place in the document. Other wrappers are sent as they are.
    if (original instanceof GraphQLError) return [error.locations || error.path ? error : original]
    if (original === undefined || error.extensions['code'] !== undefined || error.path) return [error]
    onError(original)
    return [unexpectedError(original)]
  })
}

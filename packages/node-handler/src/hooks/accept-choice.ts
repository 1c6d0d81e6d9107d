import { isAsyncIterable, keyedByHeader, type MaybePromise } from '@vinyasa/core'
import type { FetchAPI } from 'graphql-yoga'
import { type Hook } from '@vinyasa/core/pipeline'
import type { YogaInternals } from '../yoga/yoga-5.ts'

export type ResultProcessor = (
  result: unknown,
  fetchAPI: FetchAPI,
  mediaType: string,
) => MaybePromise<Response>

/** The serialization of a complete result for an `Accept` header. */
interface Written {
  readonly processor: ResultProcessor
  readonly mediaType: string
  readonly acceptable: readonly string[]
}

/** The part of the payload of `onResultProcess` that the choice reads. */
export interface AcceptPayload {
  readonly request: Request
  readonly result: unknown
  readonly acceptableMediaTypes: string[]
  setResultProcessor(processor: ResultProcessor, mediaType: string): void
}

/** The choice of Yoga's hook for media types, for results that are not streams. */
export interface AcceptChoice {
  readonly hook: Hook
  /** Serializes a complete result as JSON. */
  readonly whole: ResultProcessor | undefined
  /**
   * Returns the media type of a complete result for an `Accept` header. Returns `undefined` if Yoga does not serialize
   * it as JSON.
   */
  mediaTypeOf(accept: string): string | undefined
  /** Returns false, without any effect, if the hook must run. */
  apply(payload: AcceptPayload): boolean
}

/** Returns `undefined` for versions of Yoga with different internals. */
export function findAcceptChoice({ own }: Pick<YogaInternals, 'own'>): AcceptChoice | undefined {
  const hook = own.resultProcessors?.['onResultProcess'] as Hook | undefined
  if (!hook) return undefined

  function ask(accept: string): Written | undefined {
    const acceptable: string[] = []
    let written: Written | undefined
    void hook?.({
      request: { headers: { get: () => accept || null } },
      result: {},
      acceptableMediaTypes: acceptable,
      setResultProcessor(processor: ResultProcessor, mediaType: string) {
        written = { processor, mediaType, acceptable }
      },
    } as unknown as AcceptPayload)
    return written
  }

  const whole = ask('application/json')?.processor
  // The processor of a stream also depends on the operation type.
  const choices = keyedByHeader((accept) => {
    const written = ask(accept)
    return written?.processor === whole ? written : undefined
  })
  return {
    hook,
    whole,
    mediaTypeOf: (accept) => choices(accept)?.mediaType,
    apply({ request, result, acceptableMediaTypes, setResultProcessor }) {
      if (isAsyncIterable(result)) return false
      const written = choices(request.headers.get('accept') ?? '')
      if (!written) return false
      acceptableMediaTypes.push(...written.acceptable)
      setResultProcessor(written.processor, written.mediaType)
      return true
    },
  }
}

import { isAsyncIterable, type MaybePromise } from '@vinyasa/core'
import type { FetchAPI } from 'graphql-yoga'
import { createChoices } from '../http/remembered-choices.ts'
import { type Hook } from '@vinyasa/core/pipeline'
import type { YogaInternals } from '../yoga/yoga-5.ts'

export type ResultProcessor = (
  result: unknown,
  fetchAPI: FetchAPI,
  mediaType: string,
) => MaybePromise<Response>

/** How a whole result is written for an `Accept` header. */
interface Written {
  readonly processor: ResultProcessor
  readonly mediaType: string
  readonly acceptable: readonly string[]
}

/** The part of a payload of `onResultProcess` that the choice needs. */
export interface AcceptPayload {
  readonly request: Request
  readonly result: unknown
  readonly acceptableMediaTypes: string[]
  setResultProcessor(processor: ResultProcessor, mediaType: string): void
}

/** The choice that Yoga's hook for media types makes for a result that is no stream. */
export interface AcceptChoice {
  readonly hook: Hook
  /** Writes a whole result as JSON. */
  readonly whole: ResultProcessor | undefined
  /** How a whole result is marked for such an `Accept`; undefined where it is not written as JSON. */
  mediaTypeOf(accept: string): string | undefined
  /** False, with nothing done, where the hook itself has to be asked. */
  apply(payload: AcceptPayload): boolean
}

/** Undefined when this version of Yoga is built differently. */
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
  // For the processors of streams it matters whether the operation was a subscription.
  const choices = createChoices((accept) => {
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

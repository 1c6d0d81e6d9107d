import { after, attempt } from '../maybe-promise.ts'
import type { ParamsPhase } from './params-phase.ts'
import type { ParsePhase } from './parse-phase.ts'
import type { ResultPhase } from './result-phase.ts'
import { toErrors } from './to-errors.ts'
import type { RequestHandler, YogaInternals } from '../yoga/yoga-5.ts'

export interface Phases {
  readonly parse: ParsePhase
  readonly execute: ParamsPhase
  readonly process: ResultPhase
}

/** From a request to its response; whatever is thrown on the way becomes the errors of a result. */
export function createGraphQLHandler(
  { parse, execute, process }: Phases,
  internals: Pick<YogaInternals, 'maskedErrors' | 'logger'>,
): RequestHandler {
  return (request, serverContext) =>
    attempt(
      () =>
        after(parse(request, serverContext), (parsed) => {
          if (parsed.response) return parsed.response
          const executed = execute(parsed.params, request, serverContext)
          return after(executed, (result) => process(result, request, serverContext))
        }),
      (error) => process({ errors: toErrors(error, internals) }, request, serverContext),
    )
}

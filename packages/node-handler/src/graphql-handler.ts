import type { ParamsPhase } from './params-phase.ts'
import type { ParsePhase } from './parse-phase.ts'
import type { ResultPhase } from './result-phase.ts'
import { toErrors } from './to-errors.ts'
import type { RequestHandler, YogaInternals } from './yoga-internals.ts'

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
  return async function handle(request, serverContext) {
    try {
      const parsed = await parse(request, serverContext)
      if (parsed.response) return parsed.response
      const result = await execute(parsed.params, request, serverContext)
      return await process(result, request, serverContext)
    } catch (error) {
      return process({ errors: toErrors(error, internals) }, request, serverContext)
    }
  }
}

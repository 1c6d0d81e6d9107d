import type { RequestParser } from './body-choices.ts'
import type { Hook, ParamsHandler } from '@vinyasa/pipeline'
import type { HookRequest, RequestHandler } from '../yoga/yoga-5.ts'

/**
 * What hooks of other people's plugins have done with a request before it left the prepared path for the ordinary one, where
 * they do not run again.
 */
export interface Passed {
  /** Whether a hook is one of them. */
  isOthers(hook: Hook): boolean
  /** Of `onRequest`. */
  request: HookRequest
  requestHandler: RequestHandler | undefined
  response: Response | undefined
  thrown: Thrown | undefined
  /** Of `onRequestParse`; undefined: it has not run. */
  parse: PassedParse | undefined
  /** Of `onParams`; undefined: it has not run. */
  params: PassedParams | undefined
}

export interface PassedParse {
  requestParser: RequestParser | undefined
  response: Response | undefined
  readonly doneHooks: Hook[]
  thrown: Thrown | undefined
}

export interface PassedParams {
  params: unknown
  paramsHandler: ParamsHandler
  result: unknown
  thrown: Thrown | undefined
}

/** What a hook threw, to be thrown where the ordinary way would have run it. */
export interface Thrown {
  readonly error: unknown
}

const PASSED = Symbol('vinyasa.passed')

/** Noted on the context, which is the request's alone; those of a batch inherit it. */
export function notePassed(context: object, passed: Passed): void {
  ;(context as { [PASSED]?: Passed })[PASSED] = passed
}

export function passedOf(context: object): Passed | undefined {
  return (context as { readonly [PASSED]?: Passed })[PASSED]
}

/** Those that have not run yet. */
export function remaining(hooks: readonly Hook[], passed: Passed | undefined): readonly Hook[] {
  return passed ? hooks.filter((hook) => !passed.isOthers(hook)) : hooks
}

import type { JsonText } from '@vinyasa/base'
import type { Plan } from './compile-plan.ts'
import type { Site } from './fast-path.ts'
import { giveUpIfLeft } from '../answer/bound-answer.ts'
import { createJsonResult, interleave } from '../answer/json-result.ts'
import type { Executor } from './plain-executor.ts'
import { withRecorded } from './recorded.ts'
import { FallBack } from './refusals.ts'

/**
 * Makes the calls of a plan and puts the answer together. Where a call fails, or brings what is not for a plan to
 * answer, `execute` takes over with the calls as they are: none is made again. Then `onFallBack` is told why. Nothing takes
 * over if the answer is too large or its client has left.
 */
export async function runPlan(
  { sources, between }: Plan,
  site: Site,
  execute: Executor,
  onFallBack: (reason: string) => void,
): Promise<unknown> {
  const started = sources.map(({ prepared }) => prepared.start(site))
  try {
    const [only] = started
    const written =
      only && started.length === 1 ? [await only.json] : await Promise.all(started.map(({ json }) => json))
    const fields: JsonText[] = []
    for (const [index, { places }] of sources.entries())
      for (const [at, place] of places.entries()) fields[place] = written[index]?.[at] as JsonText
    for (const { length } of fields) site.size.add(0, length)
    site.size.done()
    return createJsonResult(between.length === 0 ? (fields[0] as JsonText) : interleave(between, fields))
  } catch (error) {
    giveUpIfLeft(site.size, site.args.contextValue)
    const { refusal } = site.size
    if (refusal) {
      site.size.done()
      for (const { recorded } of started) recorded()
      return { errors: [refusal] }
    }
    onFallBack(
      error instanceof FallBack
        ? error.message
        : 'a call to a backend failed, was cancelled or could not be made',
    )
    return execute(
      withRecorded(
        site.args,
        started.map(({ recorded }) => recorded()),
      ),
    )
  }
}

import { Ending } from '@vinyasa/core'
import { survivingShare } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { AttemptInfo } from '../src/call/calling.ts'
import { createJoinRun } from '../src/json/object-plan.ts'

const nothing = {} as never

/** What each request makes, with what it leads to. */
const made: Readonly<Record<string, (context: object) => unknown>> = {
  'what observers are told': (context) => {
    const ending = new Ending()
    ending.onAbort(() => context)
    return new AttemptInfo(
      { endpoint: { name: 'e' }, settings: { connector: 'c' }, context } as never,
      1,
      ending,
    )
  },
  'the joins of an execution': (context) =>
    createJoinRun({ variables: nothing, args: { contextValue: context, schema: nothing } } as never),
}

it.each(Object.entries(made))('%s does not outlive a small collection', (_, make) => {
  expect(survivingShare((much) => make({ much }))).toBeLessThan(0.3)
})

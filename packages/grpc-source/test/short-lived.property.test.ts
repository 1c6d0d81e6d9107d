import { onAbort, systemClock } from '@vinyasa/core'
import { survivingShare } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createOperations } from '../src/methods/operation.ts'
import { createMetadataSource } from '../src/runtime/metadata.ts'

const operations = createOperations(systemClock)
const metadata = createMetadataSource({ metadata: { fromContext: () => ({ 'x-one': 'one' }) } })

/** What each request leaves, with what it leads to. */
const left: Readonly<Record<string, (much: unknown) => unknown>> = {
  'what an operation shares': (much) =>
    operations.of({}, undefined).replies.set('a', Promise.resolve({ bytes: much } as never)),
  'the metadata of an operation': (much) => metadata({ much }),
  'who waits for a client to leave': (much) => {
    const signal = new EventTarget() as AbortSignal
    return onAbort(signal, () => much)
  },
}

it.each(Object.entries(left))('%s does not outlive a small collection', (_, leave) => {
  expect(survivingShare(leave)).toBeLessThan(0.3)
})

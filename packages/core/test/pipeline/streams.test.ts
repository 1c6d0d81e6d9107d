import { createFakeClock } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import {
  createPartStream,
  type StreamFormat,
  type StreamPart,
  type StreamResult,
} from '../../src/pipeline/streams.ts'

const format: StreamFormat = {
  headers: { 'Content-Type': 'text/plain' },
  open: '<open>',
  before: '<part>',
  after: '</part>',
  last: '</last>',
  end: '<end>',
  failed: '<failed>',
  heartbeat: '<beat>',
}
const padded: StreamFormat = { ...format, heartbeat: undefined }

type Answer = { readonly resolve: (result?: StreamResult) => void; readonly reject: () => void }

function open(given: StreamFormat) {
  const clock = createFakeClock()
  const answers: Answer[] = []
  let left = 0
  const stream = createPartStream(
    given,
    {
      next: () =>
        new Promise((resolve, reject) => answers.push({ resolve, reject: () => reject(new Error()) })),
      leave: () => left++,
    },
    clock,
  )
  const next = async (): Promise<string> => textOf(await stream.next())
  const give = (json: StreamResult['json'], isLast = false): void =>
    answers.shift()?.resolve({ json, isLast })
  return { clock, stream, next, give, answers, left: () => left }
}

const textOf = ({ text, isLast }: StreamPart): string => `${text}${isLast ? ' last' : ''}`

it('opens immediately, and sends one result a part until they end', async () => {
  const { next, give, answers, clock, stream, left } = open(format)
  expect(await next()).toBe('<open>')
  const first = next()
  give('1')
  expect(await first).toBe('<part>1</part>')
  const end = next()
  answers.shift()?.resolve()
  expect(await end).toBe('<end> last')
  expect(clock.pending()).toBe(0)
  stream.leave()
  expect(left()).toBe(0)
})

it('sends a failure and the end', async () => {
  const { next, answers, clock } = open(format)
  await next()
  const end = next()
  answers.shift()?.reject()
  expect(await end).toBe('<failed><end> last')
  expect(clock.pending()).toBe(0)
})

it('sends bytes without a copy of them', async () => {
  const { next, stream, give } = open(format)
  await next()
  const head = next()
  const json = Buffer.from('1')
  give(json, true)
  expect(await head).toBe('<part>')
  expect((await stream.next()).text).toBe(json)
  expect(await next()).toBe('</last> last')
})

describe('heartbeats', () => {
  it('are sent each 5 s to a client that waits, and the results follow', async () => {
    const { next, give, clock } = open(format)
    await next()
    for (let count = 0; count < 3; count++) {
      const beat = next()
      await clock.advance(5_000)
      expect(await beat).toBe('<beat>')
    }
    const result = next()
    give('1')
    expect(await result).toBe('<part>1</part>')
  })

  it('are not sent to a client that has not read the previous parts', async () => {
    const { next, give, clock, answers } = open(format)
    await next()
    const beat = next()
    await clock.advance(5_000)
    await beat
    await clock.advance(60_000)
    give('1')
    await clock.advance(60_000)
    expect(await next()).toBe('<part>1</part>')
    // The source is asked once for each result.
    expect(answers).toHaveLength(0)
  })

  it('are the start of the next part and spaces in a format without a message for them', async () => {
    const { next, give, clock } = open(padded)
    const first = next()
    give('1')
    expect(await first).toBe('<open><part>1</part>')
    const texts: string[] = []
    for (let count = 0; count < 3; count++) {
      const beat = next()
      await clock.advance(5_000)
      texts.push(await beat)
    }
    const second = next()
    give('2')
    texts.push(await second)
    expect(texts).toEqual(['<part>', ' ', ' ', '2</part>'])
    const last = next()
    give('3', true)
    expect(await last).toBe('<part>3</last> last')
    expect(clock.pending()).toBe(0)
  })
})

it('stops the source once, and has no timer before it is read and after it is left', async () => {
  const { next, stream, clock, left } = open(format)
  await next()
  expect(clock.pending()).toBe(0)
  void next()
  expect(clock.pending()).toBe(1)
  stream.leave()
  stream.leave()
  expect([clock.pending(), left()]).toEqual([0, 1])
})

import { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createNodeBody } from '../../src/pipeline/streams.ts'

function createBody(texts: readonly string[]) {
  const asked: number[] = []
  let left = 0
  let index = 0
  const next = () => {
    asked.push(index)
    const text = texts[index++] ?? ''
    return Promise.resolve({ text, isLast: index >= texts.length })
  }
  return { body: createNodeBody({ next, leave: () => left++ }, Readable), asked, left: () => left }
}

/** Says what was written; each write is done when it is told so. */
function createDestination(highWaterMark: number) {
  const writes: string[] = []
  const release: (() => void)[] = []
  let isEnded = false
  const destination = new Writable({
    highWaterMark,
    decodeStrings: false,
    write(chunk: string, _, done) {
      writes.push(chunk)
      release.push(done)
    },
    final(done) {
      isEnded = true
      done()
    },
  })
  return { destination, writes, isEnded: () => isEnded, releaseNext: () => release.shift()?.() }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('the body of a multipart response', () => {
  it('is written into a Node response a part a write, and ends with the last', async () => {
    const { body, left } = createBody(['one', 'two'])
    const { destination, writes, isEnded, releaseNext } = createDestination(1_000)
    const ends: unknown[] = []
    const end = destination.end.bind(destination)
    destination.end = ((...args: [string]) => (ends.push(args[0]), end(...args))) as typeof destination.end
    expect(body.pipe(destination)).toBe(destination)
    await turn()
    releaseNext()
    await turn()
    releaseNext()
    await turn()
    expect(writes).toEqual(['one', 'two'])
    // One write with the end: over a socket that is one packet less.
    expect(ends).toEqual(['two'])
    expect(isEnded()).toBe(true)
    expect(left()).toBe(1)
  })

  it('asks for the next part when a slow client has taken the last one', async () => {
    const { body, asked } = createBody(['one', 'two', 'three'])
    const { destination, writes, releaseNext } = createDestination(1)
    body.pipe(destination)
    await turn()
    await turn()
    expect({ writes, asked }).toEqual({ writes: ['one'], asked: [0] })
    releaseNext()
    await turn()
    expect({ writes, asked }).toEqual({ writes: ['one', 'two'], asked: [0, 1] })
  })

  it('writes nothing more once the client has left', async () => {
    const { body, left } = createBody(['one', 'two'])
    const { destination, writes } = createDestination(1_000)
    body.pipe(destination)
    body.destroy()
    await turn()
    expect(writes).toEqual([])
    expect(left()).toBe(1)
  })

  it('read in another way is an ordinary stream', async () => {
    const chunks: string[] = []
    for await (const chunk of createBody(['one', 'two']).body) chunks.push(String(chunk))
    expect(chunks).toEqual(['one', 'two'])
    const kept = createDestination(1_000)
    createBody(['one', 'two']).body.pipe(kept.destination, { end: false })
    await turn()
    kept.releaseNext()
    await turn()
    expect(kept.writes.map(String)).toEqual(['one', 'two'])
    expect(kept.isEnded()).toBe(false)
  })
})

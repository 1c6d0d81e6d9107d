import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { sendParts } from '../src/cycle/send.ts'

class Response extends EventEmitter {
  readonly written: string[] = []
  destroyed = false
  isFull = false
  write(text: string): boolean {
    this.written.push(text)
    return !this.isFull
  }
  end(text: string): void {
    this.written.push(`${text}.`)
  }
}

/** A source whose parts come when they are told to, and what became of it. */
function open() {
  const outgoing = new Response()
  const seen: unknown[] = []
  const timeouts: number[] = []
  let give: ((text: string, isLast?: boolean) => void) | undefined
  const source = { asked: 0, left: 0 }
  sendParts(
    {
      headers: {},
      next() {
        source.asked++
        return new Promise((resolve) => {
          give = (text, isLast = false) => resolve({ text, isLast, part: `part ${text}` })
        })
      },
      leave: () => void source.left++,
    },
    {
      socket: { setTimeout: (ms: number) => timeouts.push(ms), setNoDelay() {}, setKeepAlive() {} },
    } as unknown as IncomingMessage,
    outgoing as unknown as ServerResponse,
    (part) => void seen.push(part),
  )
  const arrive = async (text: string, isLast?: boolean): Promise<void> => {
    give?.(text, isLast)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { outgoing, seen, source, timeouts, arrive }
}

describe('an answer in parts', () => {
  it('is written part by part, the last with the end', async () => {
    const { outgoing, seen, source, arrive } = open()
    await arrive('a')
    await arrive('b')
    expect(outgoing.written).toEqual(['a', 'b'])
    expect(source).toEqual({ asked: 3, left: 0 })
    await arrive('c', true)
    expect(outgoing.written).toEqual(['a', 'b', 'c.'])
    expect(source).toEqual({ asked: 3, left: 1 })
    expect(seen).toEqual(['part a', 'part b', 'part c'])
  })

  it('may wait for its next part for longer than a connection may be quiet', () => {
    expect(open().timeouts).toEqual([0])
  })

  it('is asked for no more while the client reads nothing', async () => {
    const { outgoing, source, arrive } = open()
    outgoing.isFull = true
    await arrive('a')
    expect(source.asked).toBe(1)
    outgoing.isFull = false
    outgoing.emit('drain')
    expect(source.asked).toBe(2)
    await arrive('b')
    outgoing.emit('drain')
    expect(source.asked).toBe(3)
    expect(outgoing.written).toEqual(['a', 'b'])
  })

  it('is left when the client leaves, and nothing more is written', async () => {
    const { outgoing, seen, source, arrive } = open()
    await arrive('a')
    outgoing.destroyed = true
    outgoing.emit('close')
    expect(source.left).toBe(1)
    await arrive('b')
    expect(outgoing.written).toEqual(['a'])
    expect(seen).toEqual(['part a'])
    expect(source.asked).toBe(2)
  })
})

import { spawnSync } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLogDestination } from '../src/logging/log-destination.ts'

/** A reader that takes what is written when the test lets it. */
function reader(): { stream: Writable; text: () => string; answer: (error?: Error) => Promise<void> } {
  let text = ''
  let waiting: (() => void)[] = []
  const errors: (Error | undefined)[] = []
  const stream = new Writable({
    emitClose: false,
    write(chunk, _encoding, done) {
      waiting.push(() => {
        const error = errors.shift()
        if (!error) text += String(chunk)
        done(error)
      })
    },
  })
  // As standard output does, it can be written to after an error.
  stream._destroy = (_error, done) => done(null)
  return {
    stream,
    text: () => text,
    async answer(error) {
      if (error) errors.push(error)
      const now = waiting
      waiting = []
      for (const take of now) take()
      await setImmediate()
      await setImmediate()
    },
  }
}

it('writes no characters that control a terminal, and JSON keeps its value', async () => {
  const { stream, text, answer } = reader()
  const log = createLogDestination({ to: stream, gatherMs: 0 })
  const line = JSON.stringify({ msg: '\u009b2J\u202ered' })
  log.write(`${line}\n`)
  log.write('\u001b[31mred\n')
  await setImmediate()
  log.write('\u007f\n')
  log.flushSync()
  await answer()
  await answer()
  expect(text()).toBe(
    String.raw`{"msg":"\u009b2J\u202ered"}` +
      '\n' +
      String.raw`\u001b[31mred` +
      '\n' +
      String.raw`\u007f` +
      '\n',
  )
})

it('leaves no timer behind once all is written, which would hold up the end of the process', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  for (const count of [0, 1, 5]) {
    const { stream, text, answer } = reader()
    const log = createLogDestination({ to: stream })
    for (let line = 0; line < count; line++) log.write(`${line}\n`)
    const flushed = log.flush()
    await answer()
    await flushed
    expect(text().split('\n')).toHaveLength(count + 1)
    expect(vi.getTimerCount()).toBe(0)
  }
})

describe('a reader that stands still', () => {
  it('gets the oldest lines that fit, in order, and the others are counted, whatever their number and size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ minLength: 1, maxLength: 30 }), { maxLength: 50 }),
        fc.integer({ min: 1, max: 300 }),
        async (given, maxWaitingBytes) => {
          const lines = given.map((line) => `${line.replaceAll('\n', ' ')}\n`)
          const { stream, text, answer } = reader()
          const lost: number[] = []
          const log = createLogDestination({
            to: stream,
            maxWaitingBytes,
            onDropped: (count) => lost.push(count),
          })
          for (const line of lines) log.write(line)
          await setImmediate()
          await answer()
          expect(text().length).toBeLessThanOrEqual(maxWaitingBytes * 4)
          const kept = text().split('\n').length - 1
          expect(kept + log.dropped).toBe(lines.length)
          expect(lost.reduce((sum, count) => sum + count, 0)).toBe(kept > 0 ? log.dropped : 0)
        },
      ),
    )
  })

  it('does not hold up the end for longer than asked', async () => {
    const { stream } = reader()
    const log = createLogDestination({ to: stream })
    log.write('a\n')
    await expect(Promise.race([log.flush(10).then(() => 'ended'), setTimeout(2000, 'held')])).resolves.toBe(
      'ended',
    )
  })
})

describe('a busy server', () => {
  /** A stream that takes everything at once, and counts how often it is written to. */
  function counting(): { readonly to: Writable; readonly writes: string[] } {
    const writes: string[] = []
    const to = new Writable({ write: (chunk, _encoding, done) => (writes.push(String(chunk)), done()) })
    return { to, writes }
  }
  const turn = async (): Promise<void> => {
    await setImmediate()
    await setImmediate()
  }

  it('writes the first line at once, and those that follow together', async () => {
    const { to, writes } = counting()
    let time = 0
    const log = createLogDestination({ to, gatherMs: 60_000, now: () => time })
    for (let line = 0; line < 100; line++) {
      log.write(`${line}\n`)
      await turn()
    }
    expect(writes).toEqual(['0\n'])
    await log.flush()
    expect(writes.join('').split('\n')).toEqual([...Array.from({ length: 100 }, (_, line) => `${line}`), ''])
    expect(writes).toHaveLength(2)
    time = 60_000
    log.write('later\n')
    await turn()
    expect(writes).toHaveLength(3)
  })

  it('does not gather more than 32 kB', async () => {
    const { to, writes } = counting()
    const log = createLogDestination({ to, gatherMs: 60_000, now: () => 0 })
    for (let line = 0; line < 100; line++) {
      log.write(`${'x'.repeat(999)}\n`)
      await turn()
    }
    expect(writes).toHaveLength(4)
    expect(writes.every((text) => text.length <= 34_000)).toBe(true)
  })

  it('writes what it gathered, though nothing follows', async () => {
    const { to, writes } = counting()
    const log = createLogDestination({ to, gatherMs: 5 })
    log.write('a\n')
    await turn()
    log.write('b\n')
    await expect.poll(() => writes.join('')).toBe('a\nb\n')
  })
})

it('a full disk: nothing is thrown, every line is counted', async () => {
  const full = { fd: openSync('/dev/full', 'w') } as unknown as Writable
  const onFull = createLogDestination({ to: full })
  for (let line = 0; line < 10; line++) {
    onFull.write('line\n')
    await onFull.flush()
  }
  expect(onFull.dropped).toBe(10)
})

it('a file gets every line, the last ones at the end of the process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'log')
  const log = createLogDestination({ to: { fd: openSync(path, 'a') } as unknown as Writable })
  for (let line = 0; line < 1000; line++) log.write(`${line}\n`)
  await log.flush()
  log.write('last\n')
  log.flushSync()
  expect(readFileSync(path, 'utf8').split('\n')).toEqual([
    ...Array.from({ length: 1000 }, (_, line) => String(line)),
    'last',
    '',
  ])
  expect(log.dropped).toBe(0)
})

it('a reader that has gone: the process goes on, and counts', () => {
  const program = `
    const module = await import(${JSON.stringify(new URL('../src/logging/log-destination.ts', import.meta.url).href)})
    const { createLogDestination } = module.default ?? module
    const log = createLogDestination()
    for (let line = 0; line < 20; line++) {
      log.write('line\\n')
      await log.flush()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    console.error(log.dropped > 0 ? 'alive' : 'nothing dropped')
  `
  const { stderr } = spawnSync(
    'sh',
    ['-c', '"$0" --import jiti/register --input-type=module -e "$1" | true', process.execPath, program],
    { encoding: 'utf8', cwd: new URL('..', import.meta.url) },
  )
  expect(stderr).toContain('alive')
})

it('in front of a pipe leaves Node the way to packages, which lie behind links', () => {
  const program = `
    import { createJiti } from 'jiti'
    const { createLogDestination } = await createJiti(process.cwd() + '/').import('./src/logging/log-destination.ts')
    createLogDestination()
    await import('pino-pretty')
    console.log('found')
  `
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', '"$0" --input-type=module -e "$1" | cat', process.execPath, program],
    {
      encoding: 'utf8',
      cwd: new URL('..', import.meta.url),
      // A package manager's own way to them.
      env: { ...process.env, NODE_PATH: '' },
    },
  )
  expect(stderr).toBe('')
  expect(stdout).toBe('found\n')
})

import { backgroundClock, systemClock } from '@vinyasa/core'
import { fstatSync, write, writeSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { DestinationStream } from 'pino'
import { printable } from '../texts/escapes.ts'

export interface LogDestinationOptions {
  /** Bytes of lines that may wait to be written; further lines are dropped. Default 1_048_576. */
  readonly maxWaitingBytes?: number | undefined
  /**
   * Milliseconds from one write to the next, so that a busy server makes one write of many lines. The first line after
   * a quiet time is written at once, and so are 32 kB of lines. 0: every turn of the loop may write. Default 20.
   */
  readonly gatherMs?: number | undefined
  /** Milliseconds; default the platform's. */
  readonly now?: (() => number) | undefined
  /** The stream that lines go to. Default: standard output. */
  readonly to?: (Writable & { readonly fd?: number }) | undefined
  /** Told how many lines were lost, once lines can be written again. */
  readonly onDropped?: ((lines: number) => void) | undefined
}

export interface LogDestination extends DestinationStream {
  /** Lines that were dropped so far: they would not fit, or could not be written. */
  readonly dropped: number
  /** Resolves when what waits is written, or after `timeoutMs` (default 1000). */
  flush(timeoutMs?: number): Promise<void>
  /** Writes what waits, as far as that is possible at once: for the end of the process. */
  flushSync(): void
}

/** Lines of so many bytes wait for no others. */
const ENOUGH_BYTES = 32_768

type Sink = (bytes: Buffer, done: (error?: Error | null) => void) => void

/**
 * Writes lines behind the loop's turn, together. It never throws and never waits: what cannot be written, because the
 * disk is full or the reader has gone, and what does not fit behind a reader that stands still, is dropped and counted.
 * Logs are not worth a server that does not answer.
 */
export function createLogDestination(options: LogDestinationOptions = {}): LogDestination {
  const { maxWaitingBytes = 1_048_576, to = process.stdout, onDropped } = options
  const { gatherMs = 20, now = systemClock.now } = options
  const file = fileOf(to)
  const sink = file === undefined ? streamSink(to) : fileSink(file)
  let lines: string[] = []
  /** Bytes of `lines`, and of what is being written. */
  let waiting = 0
  let isWriting = false
  let isAsked = false
  let gathering: unknown
  let writtenAt = Number.NEGATIVE_INFINITY
  let dropped = 0
  let reported = 0
  let whenIdle: (() => void)[] = []

  function writeNext(): void {
    isAsked = false
    backgroundClock.clearTimeout(gathering)
    gathering = undefined
    if (isWriting || lines.length === 0) return
    writtenAt = now()
    const batch = lines
    const size = waiting
    lines = []
    isWriting = true
    sink(Buffer.from(printable(batch.join(''))), (error) => {
      isWriting = false
      waiting -= size
      if (error) dropped += batch.length
      else report()
      if (lines.length > 0) {
        if (whenIdle.length > 0) writeNext()
        else writeSoon()
        return
      }
      for (const resolve of whenIdle) resolve()
      whenIdle = []
    })
  }

  function writeSoon(): void {
    // The end of what is being written asks again.
    if (isAsked || isWriting) return
    const left = waiting >= ENOUGH_BYTES ? 0 : writtenAt + gatherMs - now()
    if (left <= 0) {
      isAsked = true
      setImmediate(writeNext)
    } else gathering ??= backgroundClock.setTimeout(writeNext, left)
  }

  function report(): void {
    const lost = dropped - reported
    reported = dropped
    if (lost > 0) onDropped?.(lost)
  }

  return {
    get dropped() {
      return dropped
    },
    write(line) {
      if (waiting + line.length > maxWaitingBytes) {
        dropped++
        return
      }
      waiting += line.length
      lines.push(line)
      if (!gathering || waiting >= ENOUGH_BYTES) writeSoon()
    },
    async flush(timeoutMs = 1000) {
      writeNext()
      if (!isWriting) return
      await new Promise<void>((resolve) => {
        // Left running, it would hold up the end of the process.
        const timer = systemClock.setTimeout(resolve, timeoutMs)
        whenIdle.push(() => {
          systemClock.clearTimeout(timer)
          resolve()
        })
      })
    },
    flushSync() {
      const text = printable(lines.join(''))
      lines = []
      if (text === '') return
      try {
        if (file === undefined) to.write(text)
        else writeSync(file, text)
      } catch {
        // The process ends, and there is nobody to tell.
      }
    },
  }
}

/** The descriptor of a file or a device, which Node's own stream would write to while everything waits. */
function fileOf({ fd }: { readonly fd?: number }): number | undefined {
  if (fd === undefined) return undefined
  // With numbers, Node would remember the pipe and from then on leave links in the paths of packages (`realpathSync`
  // looks at what was asked of last): what these import would not be found.
  const stat = fstatSync(fd, { bigint: true })
  return stat.isFIFO() || stat.isSocket() ? undefined : fd
}

function streamSink(stream: Writable): Sink {
  // Each write is told of its own failure.
  stream.on('error', () => {})
  return (bytes, done) => void stream.write(bytes, done)
}

function fileSink(fd: number): Sink {
  return function writeOut(bytes, done) {
    write(fd, bytes, (error, written) => {
      if (error || written === bytes.length) done(error)
      else writeOut(bytes.subarray(written), done)
    })
  }
}

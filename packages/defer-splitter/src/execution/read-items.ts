import { type Abortable, onAbort } from '@vinyasa/base'

/**
 * Hands out the items of an iterable one by one. It is closed at once when the ending aborts, also while the next item is
 * waited for, and when `take` throws or has enough: it then gives false.
 */
export function readItems(
  items: AsyncIterable<unknown>,
  ending: Abortable,
  take: (item: unknown) => boolean,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  let isOver = false
  let letGo: (() => void) | undefined
  return new Promise((resolve, reject) => {
    letGo = onAbort(ending, leave)
    if (!isOver) next()

    function next(): void {
      iterator.next().then(taken, fail)
    }

    function taken({ done = false, value }: IteratorResult<unknown>): void {
      if (isOver) return
      if (done) return end(resolve)
      try {
        if (take(value)) return next()
        close()
        end(resolve)
      } catch (error) {
        close()
        fail(error)
      }
    }

    function fail(error: unknown): void {
      end(() => reject(error as Error))
    }

    function leave(): void {
      close()
      fail(new Error('The result of the field is no longer needed.'))
    }

    /** A generator that waits hears of it only when it goes on: nobody waits for that. */
    function close(): void {
      if (isOver) return
      try {
        iterator.return?.().then(undefined, () => undefined)
      } catch {
        // It is over all the same.
      }
    }

    function end(settle: () => void): void {
      isOver = true
      letGo?.()
      settle()
    }
  })
}

/** Values that arrive on their own, taken one by one. */
export interface Queue<T> {
  push(value: T): void
  /** No more values: waiting and later takers are told `reason`. Values already here can still be taken. */
  end(reason: string): void
  /** The next value; rejects after `timeoutMs`. */
  next(timeoutMs: number, awaited: string): Promise<T>
  /** Values that nobody has taken yet. */
  readonly waiting: readonly T[]
}

interface Taker<T> {
  resolve(value: T): void
  reject(error: Error): void
}

export function createQueue<T>(): Queue<T> {
  const waiting: T[] = []
  const takers: Taker<T>[] = []
  let ended: string | undefined

  return {
    waiting,
    push(value) {
      const taker = takers.shift()
      if (taker) taker.resolve(value)
      else waiting.push(value)
    },
    end(reason) {
      ended ??= reason
      for (const taker of takers.splice(0)) taker.reject(new Error(ended))
    },
    next(timeoutMs, awaited) {
      if (waiting.length > 0) return Promise.resolve(waiting.shift() as T)
      if (ended !== undefined) return Promise.reject(new Error(ended))
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => {
          takers.splice(takers.indexOf(taker), 1)
          reject(new Error(`No ${awaited} within ${timeoutMs} ms`))
        }, timeoutMs)
        const taker: Taker<T> = {
          resolve: (value) => {
            clearTimeout(timer)
            resolve(value)
          },
          reject: (error) => {
            clearTimeout(timer)
            reject(error)
          },
        }
        takers.push(taker)
      })
    },
  }
}

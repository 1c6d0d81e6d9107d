/** Rejects with what was awaited when `promise` takes longer than `timeoutMs`. */
export async function withTimeout<T>(promise: Promise<T>, timeoutMs: number, awaited: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No ${awaited} within ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

export interface WaitUntilOptions {
  /** Default 15,000: only what fails takes it. */
  readonly timeoutMs?: number
  /** Pause between two looks. Default 10. */
  readonly everyMs?: number
  /** What is awaited, for the error. Default "the condition". */
  readonly awaited?: string
}

/** Looks again and again until `look` returns something truthy, and returns that. A look that throws is a no. */
export async function waitUntil<T>(
  look: () => T | Promise<T>,
  options: WaitUntilOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const { timeoutMs = 45_000, everyMs = 10, awaited = 'the condition' } = options
  const deadline = performance.now() + timeoutMs
  let cause: unknown
  for (;;) {
    try {
      const seen = await look()
      if (seen) return seen as Exclude<T, undefined | null | false>
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() > deadline) {
      throw new Error(`Waited ${timeoutMs} ms in vain for ${awaited}`, { cause })
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}

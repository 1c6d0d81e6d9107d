/** The jobs of one line that wait. */
export type Jobs = (() => void)[]

/** The shares of clients of whom something waits or is under way. */
export type Shares = Map<unknown, Share>

/** Work of one client that is under way at once: what waits in a backend for one delays all who ask it. */
const AT_ONCE = 32

/** What one client has that waits or is under way. */
export class Share {
  /** The lines in which something waits, in the order of their turns. */
  readonly lines: Set<Jobs> = new Set()
  underWay = 0
  readonly #among: Shares
  readonly #client: unknown

  constructor(among: Shares, client: unknown) {
    this.#among = among
    this.#client = client
    among.set(client, this)
  }

  next(): (() => void) | undefined {
    const [line] = this.lines
    if (!line) return undefined
    const job = line.shift()
    this.lines.delete(line)
    if (line.length > 0) this.lines.add(line)
    return job
  }

  get mayBegin(): boolean {
    return this.underWay < AT_ONCE
  }

  /** Forgotten where it has nothing. */
  forget(): void {
    if (this.lines.size === 0 && this.underWay === 0) this.#among.delete(this.#client)
  }
}

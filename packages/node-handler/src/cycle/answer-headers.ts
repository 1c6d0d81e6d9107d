/**
 * The headers of a response, as a list of alternating names and values for `writeHead`. Linear search is fast enough
 * for about ten headers.
 */
export class AnswerHeaders {
  readonly lines: string[]

  /** @param lines alternating names and values; names are in lower case */
  constructor(lines: string[]) {
    this.lines = lines
  }

  get(name: string): string | null {
    const key = name.toLowerCase()
    const at = this.#find(key, 0)
    if (at < 0) return null
    let value = this.lines[at + 1] as string
    // Only `set-cookie` can occur more than once.
    for (let next = this.#find(key, at + 2); next >= 0; next = this.#find(key, next + 2))
      value += `, ${this.lines[next + 1]}`
    return value
  }

  has(name: string): boolean {
    return this.#find(name.toLowerCase(), 0) >= 0
  }

  set(name: string, value: string): void {
    const key = name.toLowerCase()
    const at = this.#find(key, 0)
    if (at < 0) {
      this.lines.push(key, value)
      return
    }
    this.lines[at + 1] = value
    this.#drop(key, at + 2)
  }

  delete(name: string): void {
    this.#drop(name.toLowerCase(), 0)
  }

  append(name: string, value: string): void {
    const key = name.toLowerCase()
    const at = key === 'set-cookie' ? -1 : this.#find(key, 0)
    if (at < 0) this.lines.push(key, value)
    else this.lines[at + 1] = `${this.lines[at + 1]}, ${value}`
  }

  #find(key: string, from: number): number {
    const { lines } = this
    for (let at = from; at < lines.length; at += 2) if (lines[at] === key) return at
    return -1
  }

  #drop(key: string, from: number): void {
    for (let at = this.#find(key, from); at >= 0; at = this.#find(key, at)) this.lines.splice(at, 2)
  }
}

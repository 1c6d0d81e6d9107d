import type { ShortHeaders } from './part.ts'

/** The headers of one answer, as `writeHead` takes them. */
export class AnswerHeaders implements ShortHeaders {
  readonly block: Record<string, string | string[]> = {}

  constructor(contentType: string, contentLength: number) {
    this.block['content-type'] = contentType
    this.block['content-length'] = String(contentLength)
  }

  get(name: string): string | null {
    const value = this.block[name.toLowerCase()] ?? null
    return Array.isArray(value) ? value.join(', ') : value
  }

  has(name: string): boolean {
    return name.toLowerCase() in this.block
  }

  set(name: string, value: string): void {
    this.block[name.toLowerCase()] = value
  }

  delete(name: string): void {
    delete this.block[name.toLowerCase()]
  }

  append(name: string, value: string): void {
    const key = name.toLowerCase()
    const before = this.block[key]
    // Cookies alone stay apart.
    if (key === 'set-cookie') this.block[key] = before === undefined ? [value] : [before, value].flat()
    else this.block[key] = before === undefined ? value : `${this.get(name)}, ${value}`
  }
}

import { setImmediate } from 'node:timers'
import type { JsonText } from '@vinyasa/source-kit'

/** Of shorter text, encoding it costs less than sending its bytes apart from the response's head. */
const LONG_TEXT = 4_096

/**
 * The text of a value that several executions of a plan have of one call: they write it in the same turn of the event
 * loop, so it is kept until that ends. Only of frozen values, which are the same for all who have them.
 */
export class WrittenOnce {
  #value: object | undefined
  #text: JsonText | Promise<JsonText> = ''

  /** From the second time on in bytes, where it is long: they are encoded once. */
  of(value: unknown): JsonText | Promise<JsonText> | undefined {
    if (value === undefined || value !== this.#value) return undefined
    if (typeof this.#text === 'string' && this.#text.length > LONG_TEXT) this.#text = Buffer.from(this.#text)
    return this.#text
  }

  keep(value: unknown, text: JsonText | Promise<JsonText>): void {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return
    if (!this.#value) setImmediate(() => this.#forget())
    this.#value = value
    this.#text = text
  }

  #forget(): void {
    this.#value = undefined
    this.#text = ''
  }
}

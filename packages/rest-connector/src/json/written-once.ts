import { setImmediate } from 'node:timers'
import type { JsonText } from '@vinyasa/base'
import type { Writing } from './object-plan.ts'

/** The most characters of text that is cheaper to encode than to send apart from the response's head. */
const LONG_TEXT = 4_096

/** Text, and by whom it is written, who tells how many objects are in it once it is there. */
export interface Written {
  readonly text: JsonText | Promise<JsonText>
  readonly writing: Pick<Writing, 'objects'>
}

/**
 * The text of a value that several executions of a plan have of one call: they write it in the same turn of the event
 * loop, so it is kept until that ends. Only of frozen values, which are the same for all who have them.
 */
export class WrittenOnce {
  #value: object | undefined
  #written: Written | undefined

  /** From the second time on in bytes, where it is long: they are encoded once. */
  of(value: unknown): Written | undefined {
    if (value === undefined || value !== this.#value || !this.#written) return undefined
    const { text, writing } = this.#written
    if (typeof text === 'string' && text.length > LONG_TEXT)
      this.#written = { text: Buffer.from(text), writing }
    return this.#written
  }

  keep(value: unknown, written: Written): void {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return
    if (!this.#value) setImmediate(() => this.#forget())
    this.#value = value
    this.#written = written
  }

  #forget(): void {
    this.#value = undefined
    this.#written = undefined
  }
}

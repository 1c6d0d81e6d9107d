import { GraphQLError } from 'graphql'
import { type Abortable, Ending } from './ending.ts'
import { type Attachment, createAttachment } from './memory/attachment.ts'
import { onAbort } from './on-abort.ts'

/**
 * Limits the size of the response to one operation. 0 disables a limit. Larger responses fail with
 * `RESPONSE_TOO_LARGE`.
 */
export interface AnswerLimits {
  /**
   * Maximum objects in one response, counted each time that they are serialized. Default 1_000_000. The results of
   * resolvers are held until the response is complete. Their memory is limited to `maxAnswerBytes`, but at least to
   * its default: 200 bytes per object, 40 for each field after the first, and 64 for each number or string in a list.
   */
  readonly maxAnswerObjects?: number | undefined
  /** Maximum bytes of the JSON of one response. Default 67_108_864. */
  readonly maxAnswerBytes?: number | undefined
}

const MAX_OBJECTS = 1_000_000
const MAX_BYTES = 64 * 1024 * 1024
/**
 * Interpreters make objects without a prototype, which V8 keeps as tables: 193 bytes with one field, 289 with five, 481 with
 * ten, 865 with twenty.
 */
const OBJECT_BYTES = 200
const FIELD_BYTES = 40
/** A number or a string of a list, in the resolver's list and in the response, with what the interpreter needs to complete it. */
const ITEM_BYTES = 64
/** A part that is worth telling of. */
const LARGE_BYTES = 8 * 1024 * 1024

/** Hears what is held of answers. */
export interface AnswerWatcher {
  holds(size: AnswerSize, bytes: number): void
  /** The answer is made or given up. Told perhaps several times. */
  over(size: AnswerSize): void
}

/** Ends the calls that are made for one answer, together: it is given up, or whoever waits for it leaves. */
class AnswerCalls {
  readonly ending: Ending = new Ending()
  #letGo: (() => void) | undefined

  /** Ends them also when this one aborts, until it is let go. Whoever waits is the same for all of an answer's calls. */
  follow(leaving: Abortable): void {
    this.#letGo ??= onAbort(leaving, () => this.ending.abort(leaving.reason))
  }

  giveUp(): void {
    this.ending.abort()
  }

  /** A request may live for hours after one of its answers. */
  letGo(): void {
    this.#letGo?.()
  }
}

/** The size of what has been made of an answer, whoever makes it: plans, resolvers, deferred fragments. */
export class AnswerSize {
  readonly maxObjects: number
  readonly maxBytes: number
  /** Bytes of what resolvers make. */
  readonly maxHeldBytes: number
  /** The answer in place of one that is given up. */
  refusal: GraphQLError | undefined
  #thrown: GraphQLError | undefined
  #calls: AnswerCalls | undefined
  #objects = 0
  #bytes = 0
  #heldBytes = 0
  /** Default: nobody. */
  watcher: AnswerWatcher | undefined

  constructor({ maxAnswerObjects = MAX_OBJECTS, maxAnswerBytes = MAX_BYTES }: AnswerLimits = {}) {
    this.maxObjects = maxAnswerObjects === 0 ? Infinity : maxAnswerObjects
    this.maxBytes = maxAnswerBytes === 0 ? Infinity : maxAnswerBytes
    this.maxHeldBytes = Math.max(this.maxBytes, MAX_BYTES)
  }

  /** So far. */
  get objects(): number {
    return this.#objects
  }

  /** What resolvers have made so far. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** @throws GraphQLError over a limit */
  add(objects: number, bytes: number): void {
    this.hold((this.#objects += objects), (this.#bytes += bytes))
  }

  /** One more object that resolvers make. @throws GraphQLError over a limit */
  addObject(fields = 1): void {
    this.#heldBytes += OBJECT_BYTES + FIELD_BYTES * (fields - 1)
    if (++this.#objects <= this.maxObjects && this.#heldBytes <= this.maxHeldBytes && !this.refusal) return
    throw this.refusal ? this.giveUp() : this.giveUp(responseTooLarge(this.#objects - 1, 'objects'))
  }

  /** So many values of a resolver's lists that have no fields. @throws GraphQLError over a limit */
  addItems(items: number): void {
    this.#heldBytes += ITEM_BYTES * items
    if (this.#heldBytes <= this.maxHeldBytes && !this.refusal) return
    throw this.refusal ? this.giveUp() : this.giveUp(responseTooLarge(this.maxHeldBytes, 'bytes'))
  }

  /** Refuses a part of the answer that is larger than all of it may be. @throws GraphQLError */
  hold(objects: number, bytes: number): void {
    // Also of one that is refused: what it was made of is garbage then.
    if (bytes > LARGE_BYTES) this.watcher?.holds(this, this.#heldBytes + bytes)
    if (objects > this.maxObjects || this.refusal) throw this.giveUp()
    if (bytes > this.maxBytes) throw this.giveUp(responseTooLarge(this.maxBytes, 'bytes'))
  }

  /** Nothing more is made. Gives what whoever executes the operation is to throw, as often as it likes. */
  giveUp(refusal?: GraphQLError): GraphQLError {
    if (!this.refusal) {
      this.refusal = refusal ?? responseTooLarge(this.maxObjects, 'objects')
      this.#calls?.giveUp()
      this.watcher?.over(this)
    }
    return (this.#thrown ??= toThrow(this.refusal))
  }

  /** Ends calls made for the answer when it is given up, or when `leaving` aborts. Made when it is asked for: it has a price. */
  endingWith(leaving: Abortable | undefined): Ending {
    this.#calls ??= new AnswerCalls()
    if (this.refusal) this.#calls.giveUp()
    else if (leaving) this.#calls.follow(leaving)
    return this.#calls.ending
  }

  /** Another one that counts from the start, while calls of this one are still waited for. */
  goOn(limits: AnswerLimits): AnswerSize {
    const next = new AnswerSize(limits)
    next.#calls = this.#calls
    this.watcher?.over(this)
    return next
  }

  /** The answer is made. */
  done(): void {
    this.#calls?.letGo()
    this.watcher?.over(this)
  }
}

export const RESPONSE_TOO_LARGE = 'RESPONSE_TOO_LARGE'

function responseTooLarge(limit: number, what: 'objects' | 'bytes'): GraphQLError {
  return new GraphQLError(
    `The response has more than ${limit} ${what}. Request fewer list items, or split the operation.`,
    { extensions: { code: RESPONSE_TOO_LARGE, limit, http: { status: 400 } } },
  )
}

/** Many objects may fail by it, and interpreters take one with a path as it is: they make no other of it for each. */
function toThrow({ message, extensions }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { path: [], extensions })
}

const ofContexts: Attachment<AnswerSize> = createAttachment()

/**
 * Counts what is executed with a context from now on: an execution of it, and the next one anew. `before`: what has begun
 * to make the same answer.
 */
export function beginAnswer(context: unknown, limits: AnswerLimits, before?: AnswerSize): AnswerSize {
  const size = before?.goOn(limits) ?? new AnswerSize(limits)
  if (typeof context === 'object' && context !== null) ofContexts.set(context, size)
  return size
}

/** Returns the size of the response that a GraphQL context belongs to. Returns `undefined` if it is not counted. */
export function answerSizeOf(context: unknown): AnswerSize | undefined {
  return typeof context === 'object' && context !== null ? ofContexts.get(context) : undefined
}

/**
 * Returns the signal that ends a backend call of an operation. It aborts when the response is refused or `leaving`
 * aborts.
 */
export function endOfRead(context: unknown, leaving: Abortable | undefined): Abortable | undefined {
  return answerSizeOf(context)?.endingWith(leaving) ?? leaving
}

/**
 * Estimates the number of bytes of a value as JSON. The estimate is at least the number of characters. The function stops
 * as soon as the estimate exceeds `most`, and returns a number above `most`.
 */
export function measureJson(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 4
  let bytes = 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && bytes <= most; index++)
      bytes += 1 + measureJson(value[index], most - bytes)
    return bytes
  }
  for (const key in value) {
    bytes += key.length + 4 + measureJson((value as Readonly<Record<string, unknown>>)[key], most - bytes)
    if (bytes > most) break
  }
  return bytes
}

type IsTypeOf = (...args: never[]) => unknown

/** `isTypeOf` functions that count objects, with the `isTypeOf` that the type had before. */
const counters = new WeakMap<IsTypeOf, IsTypeOf | undefined>()

/** Marks `counter` as an `isTypeOf` function that counts objects. `own` is the `isTypeOf` that it replaces. */
export function noteObjectCounter<Own extends IsTypeOf>(counter: Own, own: Own | undefined): Own {
  counters.set(counter, own)
  return counter
}

export function isObjectCounter(isTypeOf: IsTypeOf): boolean {
  return counters.has(isTypeOf)
}

/** Returns the `isTypeOf` that a counter replaced, or `isTypeOf` itself if it is not a counter. */
export function behindObjectCounter<Own extends IsTypeOf>(isTypeOf: Own): Own | undefined {
  return (counters.has(isTypeOf) ? counters.get(isTypeOf) : isTypeOf) as Own | undefined
}

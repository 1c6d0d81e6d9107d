import { GraphQLError } from 'graphql'
import { type Abortable, Ending, onAbort } from '../ending.ts'
import { type Attachment, createAttachment } from '../memory/keyed.ts'

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
 * Bytes of an object with one field. Executors create objects without a prototype, which V8 stores as tables:
 * 193 bytes with one field, 289 with five, 481 with ten, 865 with twenty.
 */
const OBJECT_BYTES = 200
const FIELD_BYTES = 40
/**
 * Bytes of a number or string in a list. They include the item in the resolver's list, the item in the
 * response, and the memory that the executor needs to complete the item.
 */
const ITEM_BYTES = 64
/** Size in bytes above which the watcher is notified of a part of a response. */
const LARGE_BYTES = 8 * 1024 * 1024

/** Receives the memory that responses use. */
export interface AnswerWatcher {
  holds(size: AnswerSize, bytes: number): void
  /** Called when the response is complete or refused, possibly more than once. */
  over(size: AnswerSize): void
}

/** Cancels all calls for one response when the response is refused or its caller disconnects. */
class AnswerCalls {
  readonly ending: Ending = new Ending()
  #letGo: (() => void) | undefined

  /**
   * Also cancels the calls when `leaving` aborts, until `letGo` is called. Only the first signal is used,
   * because all calls of a response have the same caller.
   */
  follow(leaving: Abortable): void {
    this.#letGo ??= onAbort(leaving, () => this.ending.abort(leaving.reason))
  }

  giveUp(): void {
    this.ending.abort()
  }

  /** Unsubscribes from the signal. A request can live for hours after one of its responses. */
  letGo(): void {
    this.#letGo?.()
  }
}

/** Counts the size of a response while plans, resolvers and deferred fragments produce it. */
export class AnswerSize {
  readonly maxObjects: number
  readonly maxBytes: number
  /** Maximum bytes of resolver results. */
  readonly maxHeldBytes: number
  /** Error that replaces the response if it is refused. */
  refusal: GraphQLError | undefined
  #thrown: GraphQLError | undefined
  #calls: AnswerCalls | undefined
  #objects = 0
  #bytes = 0
  #heldBytes = 0
  /** Watcher of this response. It is not set by default. */
  watcher: AnswerWatcher | undefined

  constructor({ maxAnswerObjects = MAX_OBJECTS, maxAnswerBytes = MAX_BYTES }: AnswerLimits = {}) {
    this.maxObjects = maxAnswerObjects === 0 ? Infinity : maxAnswerObjects
    this.maxBytes = maxAnswerBytes === 0 ? Infinity : maxAnswerBytes
    this.maxHeldBytes = Math.max(this.maxBytes, MAX_BYTES)
  }

  /** Number of objects so far. */
  get objects(): number {
    return this.#objects
  }

  /** Bytes of resolver results so far. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** @throws GraphQLError over a limit */
  add(objects: number, bytes: number): void {
    this.hold((this.#objects += objects), (this.#bytes += bytes))
  }

  /**
   * Adds an object of a resolver result.
   * @throws GraphQLError over a limit
   */
  addObject(fields = 1): void {
    this.#heldBytes += OBJECT_BYTES + FIELD_BYTES * (fields - 1)
    if (++this.#objects <= this.maxObjects && this.#heldBytes <= this.maxHeldBytes && !this.refusal) return
    throw this.refusal ? this.giveUp() : this.giveUp(responseTooLarge(this.#objects - 1, 'objects'))
  }

  /**
   * Adds list items without fields from a resolver result.
   * @throws GraphQLError over a limit
   */
  addItems(items: number): void {
    this.#heldBytes += ITEM_BYTES * items
    if (this.#heldBytes <= this.maxHeldBytes && !this.refusal) return
    throw this.refusal ? this.giveUp() : this.giveUp(responseTooLarge(this.maxHeldBytes, 'bytes'))
  }

  /**
   * Refuses the response if a part exceeds a limit, or if the response was already refused.
   * @throws GraphQLError
   */
  hold(objects: number, bytes: number): void {
    // The watcher is also notified of a refused response, because its values are garbage then.
    if (bytes > LARGE_BYTES) this.watcher?.holds(this, this.#heldBytes + bytes)
    if (objects > this.maxObjects || this.refusal) throw this.giveUp()
    if (bytes > this.maxBytes) throw this.giveUp(responseTooLarge(this.maxBytes, 'bytes'))
  }

  /**
   * Refuses the response and cancels its calls. Returns the error that the executor must throw. The error can
   * be thrown several times.
   */
  giveUp(refusal?: GraphQLError): GraphQLError {
    if (!this.refusal) {
      this.refusal = refusal ?? responseTooLarge(this.maxObjects, 'objects')
      this.#calls?.giveUp()
      this.watcher?.over(this)
    }
    return (this.#thrown ??= toThrow(this.refusal))
  }

  /**
   * Returns the `Ending` for the calls of the response. It aborts when the response is refused or `leaving`
   * aborts. It is created on first use, because it is expensive.
   */
  endingWith(leaving: Abortable | undefined): Ending {
    this.#calls ??= new AnswerCalls()
    if (this.refusal) this.#calls.giveUp()
    else if (leaving) this.#calls.follow(leaving)
    return this.#calls.ending
  }

  /** Returns a new count that starts at zero and shares the pending calls of this response. */
  goOn(limits: AnswerLimits): AnswerSize {
    const next = new AnswerSize(limits)
    next.#calls = this.#calls
    this.watcher?.over(this)
    return next
  }

  /** Completes the count. It must be called when the response is complete. */
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

/**
 * Returns a copy of the error with a path. Many objects can fail with this error, and executors create a copy
 * per object if it has no path.
 */
function toThrow({ message, extensions }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { path: [], extensions })
}

const ofContexts: Attachment<AnswerSize> = createAttachment()

/**
 * Starts a new count for executions with a context. A later execution with the same context starts at zero.
 * `before` is the count of an earlier part of the same response.
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
 * Estimates the number of bytes of a value as JSON. The estimate is at least the number of characters. The
 * function stops when the estimate exceeds `most`, and returns a number above `most`.
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

/** The keys are `isTypeOf` functions that count objects. The values are the functions that they replaced. */
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

import type { ExecutionResult } from 'graphql'

type Data = ExecutionResult['data']

/**
 * A result that is already serialized. It is sent unchanged unless code reads `data`. Code that reads `data`, e.g. a
 * logging plugin, receives an object. The object is then serialized again, so that changes are not lost.
 *
 * For a hit, `stringify` returns a Buffer, although Yoga's types declare a string. `new Response(...)` accepts it
 * without a copy. In batches and event streams, the Buffer is converted to the same string.
 */
export class LazyResult implements ExecutionResult {
  declare data?: Data
  declare readonly errors?: ExecutionResult['errors']
  declare readonly extensions?: ExecutionResult['extensions']
  readonly #body: string | Buffer
  readonly #onUntouched: (() => void) | undefined
  #data: Data
  #isTouched = false

  /**
   * @param known the data, if it need not be parsed
   * @param onUntouched called if the result is sent as it was stored
   */
  constructor(body: string | Buffer, known: Data, onUntouched: (() => void) | undefined) {
    this.#body = body
    this.#data = known
    this.#onUntouched = onUntouched
    // The property is an own property, so that copies of the result contain it. All results share one descriptor,
    // because separate accessors would create a hidden class per result.
    Object.defineProperty(this, 'data', LazyResult.#dataProperty)
  }

  static readonly #dataProperty: PropertyDescriptor & ThisType<LazyResult> = {
    enumerable: true,
    configurable: true,
    get() {
      if (!this.#isTouched) {
        this.#isTouched = true
        this.#data ??= (JSON.parse(this.#body.toString()) as { data: Data }).data
      }
      return this.#data
    },
    set(value: Data) {
      this.#isTouched = true
      this.#data = value
    },
  }

  /** Yoga calls the function without `this`. The argument can be a copy with other properties. */
  stringify(result: ExecutionResult): string {
    if (!(result instanceof LazyResult) || result.#isTouched) return JSON.stringify(result)
    if (result.errors?.length || result.extensions) return JSON.stringify(result)
    result.#onUntouched?.()
    return result.#body as string
  }
}

/**
 * A serialized result for servers whose plugins neither copy nor read results. It costs half as much, because `data` is
 * not an own property.
 */
export class StoredResult implements ExecutionResult {
  declare readonly errors?: ExecutionResult['errors']
  declare readonly extensions?: ExecutionResult['extensions']
  readonly #body: Buffer
  readonly #onUntouched: (() => void) | undefined

  constructor(body: Buffer, onUntouched: (() => void) | undefined) {
    this.#body = body
    this.#onUntouched = onUntouched
  }

  get data(): Data {
    return (JSON.parse(this.#body.toString()) as { data: Data }).data
  }

  stringify(result: ExecutionResult): string {
    const { errors, extensions } = result
    if (!(result instanceof StoredResult) || errors?.length || extensions)
      return JSON.stringify({ data: result.data, errors, extensions })
    result.#onUntouched?.()
    // Yoga's types declare a string, but bytes are accepted without a copy.
    return result.#body as unknown as string
  }
}

/** Serializes the data of a result with the result's own serializer, if it has one. */
export function serializeData(
  result: ExecutionResult & { stringify?: unknown },
): string | Buffer | undefined {
  const { stringify } = result
  if (typeof stringify === 'function' && !result.extensions) {
    const own: unknown = stringify.call(result, result)
    if (Buffer.isBuffer(own)) return isNullData(own.toString('latin1', 0, 13)) ? undefined : own
    if (typeof own === 'string') return isNullData(own) ? undefined : own
  }
  if (result.data == null) return undefined
  return JSON.stringify({ data: result.data })
}

function isNullData(text: string): boolean {
  return text.startsWith('{"data":null')
}

/**
 * Returns whether a result, or the first of its parts, sets the status or headers of the response in `extensions.http`.
 * These can contain a cookie, so they belong to this response only. An entry stores no headers, and would give a
 * different response.
 */
export function hasOwnHead({ extensions }: Pick<ExecutionResult, 'extensions'>): boolean {
  return extensions?.['http'] !== undefined && extensions['http'] !== null
}

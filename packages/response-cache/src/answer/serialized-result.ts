import type { ExecutionResult } from 'graphql'

type Data = ExecutionResult['data']

/**
 * A result that is already serialised. As long as nobody reads `data`, it goes out as it is stored;
 * whoever does read it (a logging or a redacting plugin) gets an object, and what they make of it is
 * serialised anew, so no change is ever lost.
 *
 * `stringify` of a hit hands out a Buffer where Yoga's types say string: `new Response(...)` takes it
 * without a copy, and where text is needed (batches, event streams) a Buffer turns into the same text.
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
   * @param known the data, where it need not be parsed
   * @param onUntouched called when the result goes out as it is stored
   */
  constructor(body: string | Buffer, known: Data, onUntouched: (() => void) | undefined) {
    this.#body = body
    this.#data = known
    this.#onUntouched = onUntouched
    // An own property, so that copies of the result have it. One descriptor for all: accessors of its
    // own would give each result a hidden class of its own.
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

  /** Yoga calls it without `this`; a copy with other members comes in as any object. */
  stringify(result: ExecutionResult): string {
    if (!(result instanceof LazyResult) || result.#isTouched) return JSON.stringify(result)
    if (result.errors?.length || result.extensions) return JSON.stringify(result)
    result.#onUntouched?.()
    return result.#body as string
  }
}

/**
 * The same for those who do not copy results and look at none, at half the price: `data` is no member of its own.
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
    // Yoga's types say string here, but bytes are taken, too, and without a copy.
    return result.#body as unknown as string
  }
}

/** Serialises the data of a result, through the result's own serialiser when it has one. */
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
 * Whether a result, or the first of its parts, says what the head of its answer is: Yoga takes status and headers of
 * `extensions.http`. They are of this one answer, as a cookie may be among them; no entry has them, and without them it
 * would answer otherwise.
 */
export function hasOwnHead({ extensions }: Pick<ExecutionResult, 'extensions'>): boolean {
  return extensions?.['http'] !== undefined && extensions['http'] !== null
}

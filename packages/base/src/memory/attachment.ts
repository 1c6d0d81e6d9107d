/** A value that one part of the program keeps for each object of others, for as long as that lives. */
export interface Attachment<Value> {
  get(owner: object): Value | undefined
  set(owner: object, value: Value): void
}

/** A constructor may give another object than its own, which then gets the fields of the class that extends it. */
const Given = function (owner: object): object {
  return owner
} as unknown as new (owner: object) => object

/**
 * Like a `WeakMap`, for what is kept a request: the value is a private field of the object itself, which nobody else sees,
 * copies or is asked about, proxies and frozen objects included. Once a WeakMap has grown old, V8 keeps the values of young
 * keys over a small collection, dead or not, with all that they lead to.
 */
export function createAttachment<Value>(): Attachment<Value> {
  /** Objects that take no more fields: for frozen ones engines may come to refuse them. */
  const others = new WeakMap<object, Value>()

  class Held extends Given {
    #value: Value

    constructor(owner: object, value: Value) {
      super(owner)
      this.#value = value
    }

    static get(owner: object): Value | undefined {
      return #value in owner ? owner.#value : others.get(owner)
    }

    static set(owner: object, value: Value): void {
      if (#value in owner) owner.#value = value
      else
        try {
          void new Held(owner, value)
        } catch {
          others.set(owner, value)
        }
    }
  }

  return Held
}

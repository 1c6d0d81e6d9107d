/** Stores one private value per object for the lifetime of the object. */
export interface Attachment<Value> {
  get(owner: object): Value | undefined
  set(owner: object, value: Value): void
}

/**
 * Base class whose constructor returns `owner`. The private fields of a derived class are therefore added to
 * `owner`.
 */
const Given = function (owner: object): object {
  return owner
} as unknown as new (owner: object) => object

/**
 * Creates an alternative to a `WeakMap` for data of one request. The value is a private field of the object, also on
 * proxies and frozen objects. V8 keeps values of an old `WeakMap` alive longer than necessary.
 */
export function createAttachment<Value>(): Attachment<Value> {
  /** Values of objects that refuse private fields. Future engines can refuse private fields on frozen objects. */
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

/**
 * Adds the missing properties of `sample` to a prototype. The properties are read from the full object, which is
 * created on first use. Instances pass `instanceof` the class of `sample`. `own` lists the properties that instances
 * define.
 */
export function standInFor<T extends object>(
  prototype: T,
  sample: object,
  own: readonly string[],
  materialise: (standIn: T) => object,
): void {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(sample) as object)
  for (const name of memberNames(sample)) {
    if (Object.hasOwn(prototype, name) || own.includes(name as string)) continue
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: T) {
        const target = materialise(this)
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
      set(this: T, value: unknown) {
        Reflect.set(materialise(this), name, value)
      },
    })
  }
}

/** Returns all property names of an object and its classes. */
function memberNames(sample: object): Set<string | symbol> {
  const names = new Set<string | symbol>()
  let at: object | null = sample
  while (at && at !== Object.prototype) {
    for (const name of Reflect.ownKeys(at)) names.add(name)
    at = Object.getPrototypeOf(at) as object | null
  }
  names.delete('constructor')
  return names
}

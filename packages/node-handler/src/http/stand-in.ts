/**
 * Gives a prototype every member of `sample` that it lacks, taken from the true object behind a stand-in at the moment
 * somebody asks; what it makes passes `instanceof` the sample's class. `own` names what instances have themselves.
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

/** Everything that an object has, on itself and on its classes. */
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

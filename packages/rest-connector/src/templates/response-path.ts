import { RestConfigError } from '../errors.ts'

/** Takes one value out of a response; what is not there is `null`. */
export type ResponsePath = (value: unknown) => unknown

const STEP =
  /\.([\p{L}_$][\p{L}\p{N}_$-]*)|\[(\d+)\]|\['((?:[^'\\]|\\['\\])*)'\]|\["((?:[^"\\]|\\["\\])*)"\]/uy

/**
 * Compiles the specification's JSONPath subset: `$.field`, `$.field.nested`, `$.array[0]`, `$.array[0].field`, and
 * quoted names, `$['a-b']`. Only own properties are read. Anything else is refused with its position.
 */
export function compileResponsePath(path: string): ResponsePath {
  if (!path.startsWith('$')) throw refused(path, 0)
  const steps: (string | number)[] = []
  let position = 1
  while (position < path.length) {
    STEP.lastIndex = position
    const match = STEP.exec(path)
    if (!match) throw refused(path, position)
    const [, name, index, single, double] = match
    if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? (single ?? double ?? '').replace(/\\(['"\\])/g, (_, quoted: string) => quoted))
    position = STEP.lastIndex
  }
  return (value) => {
    let current = value
    for (const step of steps) {
      if (typeof current !== 'object' || current === null) return null
      if (typeof step === 'number' ? !Array.isArray(current) : Array.isArray(current)) return null
      if (!Object.hasOwn(current, step)) return null
      current = (current as Record<string | number, unknown>)[step]
    }
    return current ?? null
  }
}

function refused(path: string, position: number): RestConfigError {
  return new RestConfigError(
    `responsePath "${path}" is not understood at position ${position}; ` +
      `the forms are $.field, $.field.nested, $.array[0], $.array[0].field and $['quoted name']`,
  )
}

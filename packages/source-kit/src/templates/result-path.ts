/** Creates the error for an invalid setting. */
export type Refuse = (problem: string) => Error

/** Returns one value of a response; `null` if it is missing. */
type ResultPath = (value: unknown) => unknown

const STEP =
  /\.([\p{L}_$][\p{L}\p{N}_$-]*)|\[(\d+)\]|\['((?:[^'\\]|\\['\\])*)'\]|\["((?:[^"\\]|\\["\\])*)"\]/uy

/**
 * Compiles the specification's subset of JSONPath: `$.field`, `$.field.nested`, `$.array[0]`, `$.array[0].field`, and
 * quoted names such as `$['a-b']`. Only own properties are read. The error for other paths contains the position.
 */
export function compileResultPath(path: string, refuse: Refuse): ResultPath {
  if (!path.startsWith('$')) throw refuse(problemAt(path, 0))
  const steps: (string | number)[] = []
  let position = 1
  while (position < path.length) {
    STEP.lastIndex = position
    const match = STEP.exec(path)
    if (!match) throw refuse(problemAt(path, position))
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

function problemAt(path: string, position: number): string {
  return (
    `"${path}" has a syntax error at position ${position}; ` +
    `use one of the forms $.field, $.field.nested, $.array[0], $.array[0].field or $['quoted name']`
  )
}

/** A schema coordinate in which `*` stands for any part of a name. */
export interface Pattern {
  readonly text: string
  /** Returns what the `*`s stand for; undefined where a coordinate is not meant. */
  match(coordinate: string): readonly string[] | undefined
  readonly isExact: boolean
}

const NAME = '[A-Za-z_*][\\w*]*'
const COORDINATE = new RegExp(`^${NAME}(\\.${NAME}(\\(${NAME}:\\))?)?$`)

/** Undefined where the text is no coordinate. */
export function parsePattern(text: string): Pattern | undefined {
  if (!COORDINATE.test(text)) return undefined
  if (!text.includes('*'))
    return { text, isExact: true, match: (coordinate) => (coordinate === text ? [] : undefined) }
  const expression = new RegExp(
    `^${text.replaceAll(/[.()]/g, String.raw`\$&`).replaceAll('*', '([A-Za-z0-9_]*)')}$`,
  )
  return {
    text,
    isExact: false,
    match: (coordinate) => expression.exec(coordinate)?.slice(1),
  }
}

/** How many of the parts that have a name of their own a coordinate has: types and fields are not mixed up. */
export function depthOf(coordinate: string): number {
  return coordinate.includes('(') ? 3 : coordinate.includes('.') ? 2 : 1
}

/** The new name, with what the `*`s of the last part of the pattern stood for in place of its own. */
export function fillName(name: string, pattern: Pattern, matched: readonly string[]): string {
  const before = pattern.text.slice(0, Math.max(pattern.text.indexOf('.'), pattern.text.indexOf('(')) + 1)
  let next = before.split('*').length - 1
  return name.replaceAll('*', () => matched[next++] ?? '')
}

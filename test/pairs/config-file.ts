/** JavaScript that stands in a config file as it is. */
export class Code {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Content =
  | string
  | number
  | boolean
  | Code
  | readonly Content[]
  | { readonly [name: string]: Content | undefined }

/** A part of a config. */
export type Piece = { readonly [name: string]: Content | undefined }

const isObject = (value: unknown): value is Piece =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Code)

/** Objects are merged, lists follow each other, and of all else the last one counts. */
export function mergePieces(pieces: readonly Piece[]): Piece {
  const merged: Record<string, Content | undefined> = {}
  for (const piece of pieces) {
    for (const [name, value] of Object.entries(piece)) {
      const before = merged[name]
      if (isObject(before) && isObject(value)) merged[name] = mergePieces([before, value])
      else if (Array.isArray(before) && Array.isArray(value)) merged[name] = [...before, ...value]
      else if (value !== undefined) merged[name] = value
    }
  }
  return merged
}

/** Whether JSON and YAML can hold it. */
export function isData(value: Content | undefined): boolean {
  if (value instanceof Code) return false
  if (typeof value !== 'object') return true
  return Object.values(value).every((member) => isData(member as Content | undefined))
}

/** As JavaScript. */
export function toSource(value: Content, indent = ''): string {
  if (value instanceof Code) return value.text
  if (typeof value !== 'object') return JSON.stringify(value)
  const deeper = `${indent}  `
  if (Array.isArray(value)) {
    const items = (value as readonly Content[]).map((item) => `${deeper}${toSource(item, deeper)},\n`)
    return items.length === 0 ? '[]' : `[\n${items.join('')}${indent}]`
  }
  const members = Object.entries(value as Piece).flatMap(([name, member]) =>
    member === undefined ? [] : [`${deeper}${JSON.stringify(name)}: ${toSource(member, deeper)},\n`],
  )
  return members.length === 0 ? '{}' : `{\n${members.join('')}${indent}}`
}

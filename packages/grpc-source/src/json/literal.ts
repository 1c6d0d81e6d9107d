/**
 * JSON that is always the same, four bytes a number, since so it is copied quickest. A plain list takes a third of what a typed
 * one does, and plans hold many.
 */
export interface Literal {
  readonly words: readonly number[]
  /** In bytes. */
  readonly length: number
}

export function toLiteral(json: string): Literal {
  const length = Buffer.byteLength(json)
  const bytes = Buffer.alloc(Math.ceil(length / 4) * 4)
  bytes.write(json)
  const words = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readInt32LE(index * 4))
  return { words, length }
}

/** JSON that is always the same, four bytes a number, since so it is copied quickest. */
export interface Literal {
  readonly words: Int32Array
  /** In bytes. */
  readonly length: number
}

export function toLiteral(json: string): Literal {
  const length = Buffer.byteLength(json)
  const padded = Buffer.alloc(Math.ceil(length / 4) * 4)
  padded.write(json)
  const words = Int32Array.from({ length: padded.length / 4 }, (_, index) => padded.readInt32LE(index * 4))
  return { words, length }
}

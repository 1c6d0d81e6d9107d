/** JSON that is always the same, four bytes a number, since so it is copied quickest. */
export interface Literal {
  readonly words: Int32Array
  /** In bytes. */
  readonly length: number
}

export function toLiteral(json: string): Literal {
  const length = Buffer.byteLength(json)
  const words = new Int32Array(Math.ceil(length / 4))
  const bytes = Buffer.alloc(words.length * 4)
  bytes.write(json)
  for (let index = 0; index < words.length; index++) words[index] = bytes.readInt32LE(index * 4)
  return { words, length }
}

import { wrongCode } from './codes.ts'

/**
 * The length of each byte's code, and last of the code for the end, in base 36. The code is canonical: of two codes of
 * one length the smaller byte has the smaller. Source: RFC 7541, appendix B.
 */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u'
const END = 256
const LEAF = 0x8000

/** Reads the Huffman code of HPACK. @throws Http2ProtocolError */
export class HuffmanReader {
  /** Two children a node: another node, or a byte with `LEAF`. */
  readonly #tree: Uint16Array = plant()

  read(bytes: Uint8Array, start: number, end: number): string {
    const tree = this.#tree
    // The shortest code has five bits.
    const text = Buffer.allocUnsafe(Math.ceil(((end - start) * 8) / 5))
    let length = 0
    let node = 0
    let pending = 0
    let isPadding = true
    for (let index = start; index < end; index++) {
      const byte = bytes[index] as number
      for (let shift = 7; shift >= 0; shift--) {
        const bit = (byte >>> shift) & 1
        node = tree[node * 2 + bit] as number
        pending++
        if (bit === 0) isPadding = false
        if (node < LEAF) continue
        if (node - LEAF === END) throw wrongCode('a Huffman-coded string contains the end-of-string code')
        text[length++] = node - LEAF
        node = 0
        pending = 0
        isPadding = true
      }
    }
    if (pending > 7 || !isPadding)
      throw wrongCode('a Huffman-coded string ends with an incomplete code or invalid padding')
    return text.toString('latin1', 0, length)
  }
}

function plant(): Uint16Array {
  const tree = new Uint16Array(2 * (END + 1))
  let nodes = 1
  let code = 0
  for (let length = 1; length <= 30; length++) {
    for (let byte = 0; byte <= END; byte++) {
      if (Number.parseInt(LENGTHS[byte] as string, 36) !== length) continue
      let node = 0
      for (let shift = length - 1; shift > 0; shift--) {
        const at = node * 2 + ((code >>> shift) & 1)
        if (tree[at] === 0) tree[at] = nodes++
        node = tree[at] as number
      }
      tree[node * 2 + (code & 1)] = LEAF | byte
      code++
    }
    code *= 2
  }
  return tree
}

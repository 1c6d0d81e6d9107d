import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { JsonWriter, toLiteral } from '../../src/json/json-writer.ts'

function written(write: (writer: JsonWriter) => void): string {
  const writer = new JsonWriter()
  writer.begin(0)
  write(writer)
  return writer.take().toString()
}

it('what is written is had as a string where it is short and ASCII, in bytes where it is not', () => {
  const writer = new JsonWriter()
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('a'.repeat(70_000), 'é'))
  fc.assert(
    fc.property(text, (given) => {
      const json = JSON.stringify(given)
      const write = (): void => {
        writer.begin(0)
        writer.text(json)
      }
      write()
      const taken = writer.takeText()
      expect(taken.toString()).toBe(json)
      expect(typeof taken).toBe(json.length < 60_000 && /^[\0-\x7f]*$/.test(json) ? 'string' : 'object')
      // It stays what it is when others write.
      write()
      writer.text('x'.repeat(100))
      expect(taken.toString()).toBe(json)
    }),
  )
})

it('numbers are written as JSON.stringify writes them', () => {
  const decimal = fc
    .tuple(fc.integer({ min: -1e12, max: 1e12 }), fc.integer({ min: 0, max: 7 }))
    .map(([digits, places]) => digits / 10 ** places)
  const nearDecimal = fc
    .tuple(decimal, fc.constantFrom(1 + Number.EPSILON, 1 - Number.EPSILON))
    .map(([a, b]) => a * b)
  const any = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
    decimal,
    nearDecimal,
  )
  fc.assert(
    fc.property(any, (value) => {
      expect(written((writer) => writer.number(value))).toBe(JSON.stringify(value))
    }),
    { numRuns: 5_000 },
  )
  for (const value of [
    -0,
    0.1,
    0.001,
    0.0001,
    1e21,
    1e-7,
    123456789.125,
    999_999_999.999,
    2 ** 53,
    -(2 ** 63),
  ])
    expect(written((writer) => writer.number(value))).toBe(JSON.stringify(value))
})

it('strings are written as JSON.stringify writes them', () => {
  const plain = fc.constantFrom(...' !a~\u007f')
  const escaped = fc.constantFrom(...'"\\\n\u001f\u0000é')
  const mostlyPlain = fc.string({
    unit: fc.oneof({ weight: 9, arbitrary: plain }, { weight: 1, arbitrary: escaped }),
    maxLength: 40,
  })
  fc.assert(
    fc.property(fc.oneof(mostlyPlain, fc.string({ unit: 'binary', maxLength: 200 })), (text) => {
      const bytes = Buffer.from(text)
      const around = Buffer.concat([Buffer.from('"'), bytes, Buffer.from('"')])
      expect(written((writer) => writer.string(around, 1, around.length - 1))).toBe(
        JSON.stringify(bytes.toString()),
      )
    }),
    { numRuns: 1_000 },
  )
})

it('answers larger than its memory, and one after the other, are whole', () => {
  const writer = new JsonWriter()
  for (const length of [3, 20_000, 3_000_000, 5, 3_000_000, 20_000]) {
    writer.begin(length % 7 === 0 ? length * 2 : 0)
    const text = '"é'.repeat(length / 2)
    const bytes = Buffer.from(text)
    writer.string(bytes, 0, bytes.length)
    expect(writer.take().equals(Buffer.from(JSON.stringify(text)))).toBe(true)
  }
})

it('prepared JSON is written whole, up to the end of the memory', () => {
  for (const text of ['', 'a', 'ab', 'abc', 'abcd', '"é":', ',"name":']) {
    const words = toLiteral(text)
    const result = written((writer) => {
      for (let time = 0; time < 20_000; time++) writer.literal(words)
    })
    expect(result).toBe(text.repeat(20_000))
  }
})

import { expect, it } from 'vitest'
import { parseArgument } from '../src/declare/arguments.ts'
import { compileWireValues } from '../src/declare/wire-values.ts'

it('the names that other members must not have are read once, not for each member of a client', () => {
  let reads = 0
  const besides = new Proxy(['id', 'name'], {
    get(target, key, receiver) {
      reads++
      return Reflect.get(target, key, receiver) as unknown
    },
  })
  const fields = { id: { type: 'String' }, name: { type: 'String' }, others: { type: 'JSON', besides } }
  const args = new Map([['input', parseArgument('PetInput')]])
  const toWire = compileWireValues(args, { PetInput: { kind: 'input', fields } })
  const send = (others: object): unknown => toWire?.({ input: { id: '1', others } })
  expect(send({ a: 1 })).toEqual({ input: { id: '1', a: 1 } })
  const before = reads
  expect(
    send(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`k${index}`, 1]))),
  ).toMatchObject({
    input: { k999: 1 },
  })
  expect(() => send({ name: 'n' })).toThrow('"others" must not contain "name"')
  expect(reads).toBe(before)
})

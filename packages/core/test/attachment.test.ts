import { survivingShare } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createAttachment } from '../src/index.ts'

const refusing = new Proxy(
  {},
  new Proxy(
    {},
    {
      get: (_, trap) => () => {
        throw new Error(`${String(trap)} is not for you`)
      },
    },
  ),
)
const revoked = Proxy.revocable({}, {})
revoked.revoke()

it.each<[string, object]>([
  ['an object', {}],
  ['a function', () => {}],
  ['a frozen object', Object.freeze({})],
  ['an object without a prototype', Object.create(null) as object],
  ['a proxy with values for all properties', new Proxy({}, { get: () => () => 3, set: () => true })],
  ['a proxy whose traps throw', refusing],
  ['a revoked proxy', revoked.proxy],
])('%s has only the attached value', (_, owner) => {
  const [one, other] = [createAttachment<number>(), createAttachment<number>()]
  expect(one.get(owner)).toBeUndefined()
  one.set(owner, 1)
  one.set(owner, 2)
  expect(one.get(owner)).toBe(2)
  expect(other.get(owner)).toBeUndefined()
})

it('hides the value on the object and from copies, derived objects and proxies', () => {
  const attachment = createAttachment<number>()
  const owner = { a: 1 }
  attachment.set(owner, 1)
  expect(Reflect.ownKeys(owner)).toEqual(['a'])
  for (const other of [{ ...owner }, Object.create(owner) as object, new Proxy(owner, {})]) {
    expect(attachment.get(other)).toBeUndefined()
    attachment.set(other, 2)
    expect(attachment.get(other)).toBe(2)
  }
  expect(attachment.get(owner)).toBe(1)
})

it('an attached value does not survive a minor garbage collection', () => {
  const attachment = createAttachment<unknown>()
  expect(survivingShare((much) => attachment.set({}, much))).toBeLessThan(0.3)
})

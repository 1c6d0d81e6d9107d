import * as fc from 'fast-check'

// What the backends hold, how they fail, and in which order they reply.

export type Row = Readonly<Record<string, unknown>> & { readonly id: string }

export interface Data {
  readonly users: readonly Row[]
  /** Items and boxes, told apart by `type`; null where a backend says so little. */
  readonly things: readonly (Row | null)[]
}

/** What a call brings: `missing`: there is no such thing. `broken`: the backend fails. */
export type Outcome = 'answered' | 'missing' | 'broken'

/** Calls that fail. */
export interface Fault {
  readonly name: string
  /** Those that ask for this alone or among others. Default: whatever they ask for. */
  readonly key: string | undefined
  /** That many came before it. Default: whenever it comes. */
  readonly nth: number | undefined
  readonly outcome: Outcome
}

export interface Situation {
  readonly data: Data
  readonly faults: readonly Fault[]
  /** Turns that calls take, whichever falls to whom. */
  readonly delays: readonly number[]
}

export const KEYS = ['a', 'b', 'c'] as const
const key = fc.constantFrom<string>(...KEYS)
const optional = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(of, { nil: undefined, freq: 4 })
const kind = fc.constantFrom('NONE', 'RED', 'BLUE')
const number = fc.constantFrom('0', '7', '9007199254740993')

const plainUser = fc.record({
  id: key,
  name: fc.constantFrom('', 'Ann', '"Ł"'),
  itemId: optional(fc.constantFrom('a', 'b', 'c', 'none', '')),
  number,
  kind,
  tags: fc.array(fc.constantFrom('x', ''), { maxLength: 2 }),
  badge: optional(fc.record({ id: key, label: fc.constantFrom('', 'gold') })),
})
const user: fc.Arbitrary<Row> = fc
  .tuple(plainUser, optional(plainUser), fc.constantFrom('mail', 'place', 'none'))
  .map(([own, boss, contact]) => ({
    ...own,
    ...(boss && { boss }),
    ...(contact === 'mail' && { mail: 'a@b' }),
    ...(contact === 'place' && { place: { city: 'Łódź', userId: own.id } }),
  }))
const plainItem: fc.Arbitrary<Row> = fc.record({
  type: fc.constant('item'),
  id: key,
  name: fc.constantFrom<unknown>('', 'nut', null),
  ownerId: fc.constantFrom<unknown>('a', 'b', 'c', 'none', '', null),
  nearId: fc.constantFrom<unknown>('a', 'b', 'c', null),
  number: fc.constantFrom<unknown>(0, 7, '9007199254740993', null),
  colour: fc.constantFrom<unknown>('RED', 'BLUE', null),
  count: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ max: 3, min: -3 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
})
const item = fc
  .tuple(plainItem, fc.option(fc.array(fc.option(plainItem, { freq: 9 }), { maxLength: 2 }), { freq: 2 }))
  .map(([own, parts]): Row => ({ ...own, parts }))
const box: fc.Arbitrary<Row> = fc.record({
  type: fc.constant('box'),
  id: key,
  ownerId: fc.constantFrom<unknown>('a', 'b', 'c', null),
  itemId: fc.constantFrom<unknown>('a', 'b', 'c', null),
  inside: fc.array(plainItem, { maxLength: 2 }),
})

const words = (text: string): readonly string[] => text.split(' ')
const CALLS = words(
  'user users sureUser crowd find one setUser byId alone byKind mates byNumber item items sure things held itemOf ' +
    'pair setItem owned itemsById itemsOfBoxes itemsOfOwn near numbered own owns',
)
const JOINS = words('byId alone mates byKind byNumber owned itemsById near numbered one')

const fault: fc.Arbitrary<Fault> = fc.record({
  name: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...JOINS) },
    { weight: 1, arbitrary: fc.constantFrom(...CALLS) },
  ),
  key: fc.option(fc.constantFrom(...KEYS, ...KEYS, 'RED', 'BLUE', '7'), { nil: undefined, freq: 2 }),
  nth: fc.option(fc.noBias(fc.nat(3)), { nil: undefined, freq: 2 }),
  outcome: fc.constantFrom<Outcome>('missing', 'broken'),
})

/** Most have one of each key; some have none, and some have two. */
function several<One extends { readonly id: string }>(one: fc.Arbitrary<One>): fc.Arbitrary<One[]> {
  const each = fc.tuple(...KEYS.map((id) => one.map((own): One => ({ ...own, id }))))
  const order = fc.constantFrom([0, 1, 2], [2, 1, 0], [1, 0, 2])
  const all = fc.tuple(each, order).map(([ones, places]) => places.map((place) => ones[place] as One))
  return fc.oneof(
    { weight: 5, arbitrary: all },
    { weight: 2, arbitrary: fc.tuple(all, one).map(([ones, more]) => [...ones, more]) },
    { weight: 1, arbitrary: fc.array(one, { maxLength: 3 }) },
  )
}

export const situation: fc.Arbitrary<Situation> = fc.record({
  data: fc.record({
    users: several(user),
    things: fc
      .tuple(several(item), fc.array(box, { maxLength: 2 }), fc.array(fc.constant(null), { maxLength: 1 }))
      .map((all): (Row | null)[] => all.flat()),
  }),
  faults: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(fault, { minLength: 2, maxLength: 6, size: 'max' }) },
  ),
  delays: fc.array(fc.constantFrom(0, 1, 2, 3, 5), { minLength: 7, maxLength: 7 }),
})

export function isThing(thing: Row | null): thing is Row {
  return thing !== null
}

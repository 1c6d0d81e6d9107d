import { constantFrom, record } from 'fast-check'
import type { Piece } from '../config-file.ts'
import type { Feature } from '../feature.ts'

/** What a router asks is answered as any other question, by each way in. */
export const federation: Feature = {
  name: 'federation',
  settings: ['federation'],
  values: [
    { name: 'off' },
    {
      name: 'entities',
      operations: ['federation'],
      config: () =>
        record({
          federation: record({
            maxReferences: constantFrom(10, 1_000),
            entities: constantFrom<Piece>(
              { Book: { key: 'id', field: 'book' }, Author: { key: 'id' } },
              { Book: { key: ['id'], field: 'book', args: { id: 'id' } }, Author: { key: 'id' } },
            ),
          }),
        }),
    },
  ],
}

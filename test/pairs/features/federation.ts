import { constant } from 'fast-check'
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
        constant({ federation: { entities: { Book: { key: 'id', field: 'book' }, Author: { key: 'id' } } } }),
    },
  ],
}

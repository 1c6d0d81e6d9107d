import { constant, constantFrom, record } from 'fast-check'
import type { Feature, Value } from '../feature.ts'

/** What they promise is what is judged of every run: nothing old, and nothing of another. */
export const redis: Feature = {
  name: 'redis',
  settings: ['redisUrl', 'redis'],
  values: [
    { name: 'off' },
    { name: 'url', needs: ['redis'], config: ({ redisUrl }) => constant({ redisUrl }) },
    {
      name: 'settings',
      needs: ['redis'],
      config: ({ redisUrl }) =>
        record({ redis: record({ url: constant(redisUrl), db: constantFrom(0, 3) }) }),
    },
  ],
}

export const nats: Feature = {
  name: 'nats',
  settings: ['nats'],
  values: [
    { name: 'off' },
    { name: 'on', needs: ['nats'], config: ({ natsUrl }) => constant({ nats: { servers: natsUrl } }) },
  ],
}

export const workers: Feature = {
  name: 'workers',
  settings: [],
  values: [{ name: '1' }, { name: '2', args: ['--workers', '2'] }],
}

const hasBus: Value['fits'] = ({ redis, nats }) =>
  redis === undefined || nats === undefined || redis !== 'off' || nats !== 'off'

/**
 * The second one is read from alone, so that what is counted is of the first one. Parted: the first one alone loses what
 * carries changes, for a while.
 */
export const gateways: Feature = {
  name: 'gateways',
  settings: [],
  values: [{ name: '1' }, { name: '2', fits: hasBus }, { name: 'parted', fits: hasBus }],
}

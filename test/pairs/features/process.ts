import type { Feature, Value } from '../feature.ts'

/** How the first gateway is started; what its end must be is judged of every run. */
export const launcher: Feature = {
  name: 'launcher',
  settings: [],
  values: [{ name: 'node' }, { name: 'npm start' }, { name: 'npx' }],
}

/** What stands between the clients and the first gateway; what passes through it is judged as without. */
export const proxy: Feature = {
  name: 'proxy',
  settings: [],
  values: [
    { name: 'off' },
    { name: 'nginx' },
    // As Debian ships it: HTTP/1.0 to the gateway, whose streams it keeps back unless they say otherwise.
    { name: 'nginx as shipped', fits: ({ live = 'off' }) => live !== 'ws' && live !== 'patches' },
  ],
}

/** Time for a reload, of each worker after the other. */
const RELOADS_MS = 2_500

/** The same config once more, while clients ask: nobody notices. */
const reloads: NonNullable<Value['between']> = async ({ signal }) => signal('SIGHUP')

export const reload: Feature = {
  name: 'reload',
  settings: [],
  values: [
    { name: 'off' },
    {
      name: 'SIGHUP',
      // A package manager ends by it.
      fits: ({ launcher = 'node' }) => launcher === 'node',
      between: reloads,
      afterwardsMs: RELOADS_MS,
      *observe({ lines, row }) {
        const failed = lines.find((line) => line.includes('reload failed'))
        if (failed !== undefined) yield `the same config is refused: ${failed}`
        const times = lines.filter((line) => line.includes('"msg":"reloaded"')).length
        if (row['log'] === 'json' && times < Number(row['workers']))
          yield `the config was not read again: ${times} times`
      },
    },
  ],
}

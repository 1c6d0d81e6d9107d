import { expect, it } from 'vitest'
import * as publicSurface from '../src/index.ts'
import * as ws from '../src/ws.ts'

it('exports these names and no others', () => {
  expect([Object.keys(publicSurface).sort(), Object.keys(ws).sort()]).toMatchInlineSnapshot(`
    [
      [
        "cacheControlFor",
        "createLiveQueryStore",
        "detectFieldChanges",
        "matchesFilter",
        "parseQueryArguments",
        "useLiveQuery",
      ],
      [
        "asksForWebSocket",
        "attachLiveServer",
        "createFairTurns",
        "ignoreUpgrades",
        "refuseUpgrade",
      ],
    ]
  `)
})

import { expect, it } from 'vitest'
import * as publicSurface from '../src/index.ts'
import * as ws from '../src/ws.ts'

it('exports these names and no others', () => {
  expect([Object.keys(publicSurface).sort(), Object.keys(ws).sort()]).toMatchInlineSnapshot(`
    [
      [
        "GraphQLLiveDirective",
        "LiveQueryStoreError",
        "cacheControlFor",
        "createLiveQueryStore",
        "detectFieldChanges",
        "formatPayload",
        "hasLiveDirective",
        "matchesFilter",
        "matchesTrigger",
        "parseQueryArguments",
        "planLiveQuery",
        "stripLiveDirective",
        "toUpdate",
        "useLiveQuery",
      ],
      [
        "asksForWebSocket",
        "attachLiveServer",
        "createFairTurns",
        "ignoreUpgrades",
      ],
    ]
  `)
})

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Behaviour, withBehaviour } from '@vinyasa/core/pipeline'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Each function of a behaviour, with the hook that is derived from it. */
const DERIVED: readonly (readonly [string, Behaviour])[] = [
  ['onRequest', { receive() {} }],
  ['onRequest', { alias: { paths: () => ({ path: '/a', endpoint: '/b' }), enter() {} } }],
  ['onRequestParse', { checkRequest() {} }],
  ['onRequestParse', { wrapParser: (parse) => parse }],
  ['onParams', { changeParams: () => undefined }],
  ['onParams', { admit() {} }],
  ['onContextBuilding', { context() {} }],
  ['onResponse', { respond() {} }],
]

/** Hooks that are written by hand, because no behaviour has the same effect for requests in node-handler. */
const BY_HAND: Readonly<Record<string, string>> = {
  'apps/gateway/src/composition/plugins.ts': 'serves another path',
  'apps/gateway/src/http/probes.ts': 'serves other paths',
  'apps/gateway/src/observability/observability.ts': 'serves another path',
  'apps/gateway/src/status/status.ts': 'serves other paths',
  'packages/grpc-source/src/plugin.ts': 'does not load graphql-yoga, so each hook calls the same function',
  'packages/live-query/src/execution/passes.ts': 'only for requests that the plugin creates itself',
  'packages/node-handler/src/uploads/use-uploads.ts': 'only for multipart requests, which Yoga serves',
  'packages/response-cache/src/plugin.ts': 'only for servers without node-handler',
}

const HOOK = /^\s+(?:async )?(?:onRequest|onRequestParse|onParams|onContextBuilding|onResponse)(?:\(|: )/m

describe('a plugin declares a rule once', () => {
  it.each(DERIVED)('derives %s', (name, behaviour) => {
    expect(withBehaviour({}, behaviour)).toHaveProperty(name)
    expect(() => withBehaviour({ [name]() {} } as Plugin, behaviour)).toThrow(
      `A plugin has the hook ${name} and a behaviour from which ${name} follows`,
    )
  })

  it('keeps hooks that do not follow from the behaviour', () => {
    const plugin = { onExecute() {}, onParams() {} }
    expect(withBehaviour(plugin, { respond() {} })).toMatchObject(plugin)
  })

  it('has request hooks written by hand only where no behaviour does the same', () => {
    const files = ['packages', 'apps']
      .flatMap((folder) => sourceFilesUnder(root, folder))
      .filter((file) => !/^packages\/(?:core\/src\/pipeline|node-handler\/src\/(?:cycle|yoga))\//.test(file))
      .filter((file) => !file.startsWith('apps/gateway/src/workers/'))
    const found = files.filter((file) => HOOK.test(readFileSync(`${root}/${file}`, 'utf8')))
    expect(found.toSorted()).toEqual(Object.keys(BY_HAND))
  })
})

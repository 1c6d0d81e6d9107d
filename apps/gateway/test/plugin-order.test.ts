import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { useLiveQuery } from '@vinyasa/live-query'
import { useResponseCache } from '@vinyasa/response-cache'
import { createLogger } from '../src/logging/logger.ts'
import { createGateway } from '../src/gateway.ts'
import { requestMultipart } from '@vinyasa/test-kit'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { OWN_SCHEMA, post, startGateway } from './support/gateway.ts'

// Rule 4 of composition: whatever a config adds works in its place, and what cannot be meant is refused at the start.

describe('a plugin of the config that wraps the executor', () => {
  it('still lets the first part of a deferred query leave early, and sees every operation', async () => {
    const seen: string[] = []
    const wrapper: Plugin = {
      onExecute({ executeFn, setExecuteFn }) {
        setExecuteFn((args) => {
          seen.push('executed')
          return executeFn(args)
        })
      },
    }
    let release = (): void => {}
    const slow = new Promise<string>((resolve) => (release = () => resolve('late')))
    const { endpoint } = await startGateway({
      typeDefs: 'type Query { quick: String slow: String }',
      resolvers: { Query: { quick: () => 'now', slow: () => slow } },
      dependencies: { 'Query.quick': { variesBy: [] }, 'Query.slow': { variesBy: [] } },
      responseCache: true,
      plugins: [Object.assign(wrapper, { readsHeaders: [] })],
    })
    const response = await requestMultipart(endpoint, { body: { query: '{ quick ... @defer { slow } }' } })
    expect((await response.nextPart())?.json()).toEqual({ data: { quick: 'now' }, hasNext: true })
    release()
    expect((await response.nextPart())?.json()).toMatchObject({ incremental: [{ data: { slow: 'late' } }] })
    expect(seen).toEqual(['executed'])

    const cached = await post(endpoint, { query: '{ quick slow }' })
    expect(cached.headers.get('x-cache')).toBe('HIT')
  })
})

describe('a plugin of the config that the gateway has already', () => {
  it.each([
    ['responseCache', useResponseCache()],
    ['defer', useDeferSplitter()],
    ['liveQuery', useLiveQuery()],
    ['responseCache', { ...useResponseCache(), onExecute: () => {} }],
  ] as const)('%s: refused at the start, with the setting in its place', async (setting, plugin) => {
    const starting = createGateway(
      { ...OWN_SCHEMA, responseCache: true, plugins: [{}, plugin] },
      { baseDirectory: '/', logger: await createLogger({ level: 'silent' }) },
    )
    await expect(starting).rejects.toThrow(
      `plugins[1]: the gateway already adds this plugin because \`${setting}\` is on; remove the plugin from plugins, and set its options in \`${setting}\``,
    )
  })

  it('is none that names a behaviour of its own', async () => {
    const plugin = { behaviour: 'toString', onParse: () => {} }
    const { endpoint } = await startGateway({ ...OWN_SCHEMA, plugins: [plugin] })
    expect((await post(endpoint, { query: '{ hello }' })).status).toBe(200)
  })

  it('is let in where the config has turned it off', async () => {
    const { endpoint } = await startGateway({ ...OWN_SCHEMA, plugins: [useResponseCache()] })
    expect((await post(endpoint, { query: '{ hello }' })).headers.get('x-cache')).toBe('MISS')
    expect((await post(endpoint, { query: '{ hello }' })).headers.get('x-cache')).toBe('HIT')
  })
})

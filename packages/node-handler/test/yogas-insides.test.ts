import { createGraphQLError, createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { createNodeHandler } from '@vinyasa/node-handler'
import { usePipeline } from '@vinyasa/core/pipeline'
import { findAcceptChoice, findParserChoice, findSizeLimit } from '../src/yoga/yogas-choices.ts'
import { readInternals, type YogaInternals } from '../src/yoga/yoga-5.ts'
import { bothAnswer, buildYoga, graphql, openDoors, type YogaOptions } from './doors.ts'

function internalsOf(options: YogaOptions = {}): YogaInternals {
  const yoga = createYoga({ schema: createSchema({ typeDefs: 'type Query { hello: String }' }), ...options })
  const { internals } = readInternals(yoga)
  if (!internals) throw new Error('no internals')
  return internals
}

const findings = (internals: YogaInternals) => ({
  parsers: findParserChoice(internals)?.hooks.size,
  sizeLimit: findSizeLimit(internals) !== undefined,
  whole: typeof findAcceptChoice(internals)?.whole,
})
const ALL = { parsers: 5, sizeLimit: true, whole: 'function' }

/** Puts each hook of Yoga's own into another function, as a bundler or a minifier writes other code for it. */
const rewrap: Plugin = {
  onPluginInit({ plugins }) {
    const given = plugins as unknown as Record<string, unknown>[]
    for (const [at, plugin] of given.entries()) {
      if (Object(plugin) !== plugin || 'behaviour' in plugin || (plugin as unknown) === rewrap) continue
      const hooks = Object.entries(plugin).filter(
        ([name]) => /^on[A-Z]/.test(name) && name !== 'onPluginInit',
      )
      const wrapped = hooks.map(([name, hook]) => [
        name,
        (payload: unknown) => (hook as (payload: unknown) => unknown)(payload),
      ])
      given[at] = { ...plugin, ...Object.fromEntries(wrapped) }
    }
  },
}

// The range of peers begins at this version; a newer one that is built otherwise is red here before it is slow.
it('everything that the fast path reads of this version of Yoga is found', () => {
  expect(createNodeHandler(buildYoga()).slowPathReasons).toEqual([])
  expect(findings(internalsOf())).toEqual(ALL)
})

it("is found where the code of Yoga's hooks is another, and answers the same", async () => {
  const wrapped = { plugins: [rewrap, usePipeline({ liftLiterals: true })] }
  expect(findings(internalsOf(wrapped))).toEqual(ALL)
  const doors = await openDoors(() => ({ plugins: [rewrap, usePipeline({ liftLiterals: true })] }))
  expect([doors.handler.slowPathReasons, doors.handler.uncachedReasons]).toEqual([[], []])
  for (const body of [graphql('{ hello }'), graphql('{ nothing }'), graphql('{ fails }'), '{', '[]']) {
    for (const chunked of [undefined, 5]) {
      for (let time = 0; time < 3; time++) {
        const { yoga, thin } = await bothAnswer(doors, { body, ...(chunked ? { chunked } : {}) })
        expect(thin).toBe(yoga)
      }
    }
  }
})

it.each<[string, YogaOptions, Partial<typeof ALL>]>([
  ['no size limit', { maxRequestBodySize: false }, { sizeLimit: false }],
  ['no uploads', { multipart: false }, { parsers: 4 }],
  ['a schema by request', { schema: () => createSchema({ typeDefs: 'type Query { a: Int }' }) }, {}],
])('with %s the rest is found', (_name, options, other) => {
  expect(findings(internalsOf(options))).toEqual({ ...ALL, ...other })
})

it('nothing is found where a plugin was put among those of Yoga', () => {
  const put: Plugin = { onParse: () => {} }
  const plugin: Plugin = { onPluginInit: ({ plugins }) => void plugins.splice(plugins.length - 2, 0, put) }
  const nothing = { parsers: undefined, sizeLimit: false, whole: 'undefined' }
  expect(findings(internalsOf({ plugins: [plugin] }))).toEqual(nothing)
})

it("a hook in the size limit's place that limits nothing is called with every request", () => {
  const internals = internalsOf()
  const bodyLimit = { onRequestParse: () => {} }
  expect(findSizeLimit({ own: { ...internals.own, bodyLimit } })).toBeUndefined()
})

describe("a plugin's own limit of the body is nobody else's", () => {
  const limit: Plugin = {
    onRequestParse({ request }) {
      const length = request.headers.get('content-length')
      const isTold = request.headers.get('x-limit') !== 'none'
      if (isTold && Number(length) > 40)
        throw createGraphQLError('mine', { extensions: { http: { status: 413 }, code: 'MINE' } })
    },
  }

  const behindAll: Plugin = { onPluginInit: ({ plugins }) => void plugins.push(limit) }

  it.each<[string, YogaOptions]>([
    ["beside Yoga's", { plugins: [limit], maxRequestBodySize: 60 }],
    ["in place of Yoga's", { plugins: [limit], maxRequestBodySize: false }],
    ["behind all of Yoga's", { plugins: [behindAll] }],
  ])('%s', async (_place, options) => {
    const doors = await openDoors(() => options)
    const seen = new Set<string | undefined>()
    for (const length of [20, 50, 70]) {
      const body = graphql('{ hello }').padEnd(length)
      for (const more of [{}, { headers: { 'x-limit': 'none' } }, { chunked: 7 }]) {
        const { yoga, thin } = await bothAnswer(doors, { body, ...more })
        expect(thin).toBe(yoga)
        seen.add(/HTTP\/1.1 (\d+)/.exec(thin)?.[1])
      }
    }
    expect(seen).toEqual(new Set(['200', '413']))
  })
})

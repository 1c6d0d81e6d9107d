import { createSchema, createYoga } from 'graphql-yoga'
import { expect, it } from 'vitest'
import { createNodeHandler } from '@vinyasa/node-handler'
import { findAcceptChoice } from '../src/fast-path/accept-choice.ts'
import { onlyYogaValidates } from '../src/fast-path/params-phase.ts'
import { findParserChoice, findSizeLimit } from '../src/fast-path/body-choices.ts'
import { readInternals } from '../src/yoga/yoga-5.ts'

// The range of peers begins at this version; a newer one that is built otherwise is red here before it is slow.
it('everything that the fast path reads of this version of Yoga is found', () => {
  const yoga = createYoga({ schema: createSchema({ typeDefs: 'type Query { hello: String }' }) })
  expect(createNodeHandler(yoga).slowPathReasons).toEqual([])
  const { internals } = readInternals(yoga)
  if (!internals) throw new Error('no internals')
  expect(findParserChoice(internals.onRequestParse)?.hooks).toBeGreaterThan(1)
  expect(findSizeLimit(internals.onRequestParse)).toBeDefined()
  expect(findAcceptChoice(internals.onResultProcess)?.whole).toBeTypeOf('function')
  expect(onlyYogaValidates(internals.plugins)).toBe(true)
})

it("a user's hook is not taken for one of Yoga's", () => {
  const plugins = [{ onValidate: () => {} }]
  const yoga = createYoga({ schema: createSchema({ typeDefs: 'type Query { hello: String }' }), plugins })
  expect(onlyYogaValidates(readInternals(yoga).internals?.plugins ?? [])).toBe(false)
})

import { buildSchema, execute, parse } from 'graphql'
import { expect, it } from 'vitest'
import { createPlanner } from '../src/plan/planner.ts'
import { offerField } from '../src/plan/registry.ts'

const schema = buildSchema('type Query { id(of: String): ID, other: ID }')
const resolve = (): null => null
Object.assign(schema.getQueryType()?.getFields()['id'] ?? {}, { resolve })
offerField(resolve, { prepareRoots: () => ({ start: () => expect.unreachable('nothing is executed') }) })

it('a plan that is asked for is not pushed out by a thousand that come once', () => {
  const planner = createPlanner(() => ({}))
  const planned: (string | undefined)[] = []
  planner.trust(execute)
  planner.listen('any', ({ operationName, outcome }) => outcome === 'planned' && planned.push(operationName))
  const ask = (document: ReturnType<typeof parse>): unknown =>
    planner.plan({ schema, document, contextValue: {} }, execute)

  const hot = parse('query Hot { id }')
  for (let other = 0; other < 1_000; other++) {
    expect(ask(hot)).toBeDefined()
    ask(parse(`query Other { id(of: "${other} ${'_'.repeat(1_000)}") }`))
  }
  expect(planned.filter((name) => name === 'Hot')).toHaveLength(1)
  expect(planned).toHaveLength(1_001)
})

it('listeners hear of each operation once, and of those that have no plan why', () => {
  const planner = createPlanner(() => ({}))
  const heard: unknown[] = []
  planner.trust(execute)
  planner.listen('any', ({ operationName, outcome, reason }) => heard.push([operationName, outcome, reason]))
  for (const text of ['query One { id }', 'query Two { other }']) {
    const document = parse(text)
    for (let time = 0; time < 2; time++) planner.plan({ schema, document, contextValue: {} }, execute)
  }
  expect(heard).toEqual([
    ['One', 'planned', undefined],
    ['Two', 'unplanned', expect.stringContaining('other')],
  ])
})

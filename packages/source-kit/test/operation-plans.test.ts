import { createRoom } from '@vinyasa/core'
import { buildSchema, getOperationAST, type GraphQLObjectType, parse } from 'graphql'
import { expect, it } from 'vitest'
import type { Selection } from '../src/plan/fast-path.ts'
import { OperationPlans } from '../src/plan/operation-plans.ts'
import { offerField } from '../src/plan/registry.ts'
import { fieldsBelow, type SelectionScope } from '../src/plan/selection-scope.ts'

const schema = buildSchema('type Query { node: Node } type Node { id: ID left: Node right: Node }')
const type = schema.getType('Node') as GraphQLObjectType
const resolve = (): null => null
Object.assign(schema.getQueryType()?.getFields()['node'] ?? {}, { resolve })

/** It looks at all that is selected below. */
function look(nodes: Selection['nodes'], scope: SelectionScope): void {
  for (const below of fieldsBelow(scope, type, nodes).values()) look(below, scope)
}

offerField(resolve, {
  prepareRoots(selections, scope) {
    for (const { nodes } of selections) look(nodes, scope)
    return { start: () => expect.unreachable('nothing is executed') }
  },
})

/** Why there is no plan, and what it holds: of so many fragments, each of which has the next one twice. */
function planned(links: number) {
  const fragments = Array.from({ length: links }, (_, at) => {
    const next = `${at + 1 === links ? 'id' : `...F${at + 1}`}`
    return `fragment F${at} on Node { left { ${next} } right { ${next} } }`
  })
  const text = `{ node { ...F0 } } ${fragments.join(' ')}`
  const document = parse(text)
  const operation = getOperationAST(document)
  let held = 0
  const room = createRoom(1_000_000_000)
  const hold: typeof room.hold = (size, forget) => {
    held += size
    return room.hold(size, forget)
  }
  if (!operation) throw new Error('There is no operation')
  const { plan, reason } = new OperationPlans(schema, document, operation, () => ({ hold })).find({})
  return { isPlanned: plan !== undefined, reason, held }
}

it('an operation has no plan once fragments in fragments select more than 2,000 fields', () => {
  expect(planned(8)).toMatchObject({ isPlanned: true, reason: undefined })
  const { isPlanned, reason, held } = planned(24)
  expect({ isPlanned, reason }).toEqual({
    isPlanned: false,
    reason: 'the operation has more than 2000 selections, including the selections of fragments',
  })
  expect(held).toBeLessThan(30_000)
})

it('a plan holds as much as it selects, fragments in place', () => {
  expect(planned(2).held).toBeLessThan(20_000)
  expect(planned(8).held).toBeGreaterThan(500 * 2 ** 8)
})

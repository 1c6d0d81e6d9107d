import { survivingShare } from '@vinyasa/test-kit'
import { parse, type OperationDefinitionNode } from 'graphql'
import { expect, it } from 'vitest'
import { aroundBy } from '../../src/pipeline/around.ts'
import type { Operation } from '../../src/pipeline/operation.ts'

const document = parse('{ hello }')
const [definition] = document.definitions as readonly [OperationDefinitionNode]
let heard = 0
const around = aroundBy([() => void heard++])

it('payloads of onExecute hooks do not survive a minor garbage collection', () => {
  const share = survivingShare((much) => {
    const operation: Operation = {
      prepared: { schema: {} as never, document, definition, operationName: undefined },
      params: { query: '{ hello }' },
      request: {} as Request,
      context: { much },
      sameBytes: undefined,
      isObserved: true,
      progress: { wasExecuted: false, isFinal: false, isRefused: false },
    }
    around(operation, () => ({ data: {} }))
  })
  expect(share).toBeLessThan(0.3)
  expect(heard).toBeGreaterThan(0)
})

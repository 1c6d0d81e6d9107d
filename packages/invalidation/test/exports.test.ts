import { expect, it } from 'vitest'
import * as publicSurface from '../src/index.ts'

it('exports these names and no others', () => {
  expect(Object.keys(publicSurface).sort()).toMatchInlineSnapshot(`
    [
      "createDependencies",
      "createDependencyCache",
      "createDistributedInvalidationBus",
      "createInvalidationBus",
      "createMutationAnnouncer",
      "createMutationEvents",
      "describeOperationVariesBy",
      "describeVariesBy",
      "isTracingHeader",
      "readVerb",
      "selectOperation",
      "statedChanges",
      "statedDependsOn",
      "toVariesBy",
    ]
  `)
})

import { expect, it } from 'vitest'
import * as publicSurface from '../src/index.ts'

it('exports these names and no others', () => {
  expect(Object.keys(publicSurface).sort()).toMatchInlineSnapshot(`
    [
      "FallBack",
      "NotPlannable",
      "SLICE_BYTES",
      "SchemaConflictError",
      "assignNames",
      "claimJoin",
      "createTurns",
      "exceededLimit",
      "fieldsBelow",
      "groupBy",
      "mergeRecorded",
      "mergeSources",
      "offerField",
      "parseInSlices",
      "prepareArguments",
      "prepareJoin",
      "recordedJoin",
      "recordedRoot",
      "stringifySlices",
      "useSources",
      "writeInSlices",
    ]
  `)
})

import { expect, it } from 'vitest'
import * as publicSurface from '../src/index.ts'

it('exports these names and no others', () => {
  expect(Object.keys(publicSurface).sort()).toMatchInlineSnapshot(`
    [
      "FallBack",
      "NOTHING_RECORDED",
      "NotPlannable",
      "argumentsOf",
      "claimJoin",
      "collectFields",
      "fastPathOf",
      "fieldsBelow",
      "mergeRecorded",
      "offerField",
      "plannerOf",
      "prepareJoin",
      "recordedJoin",
      "recordedRoot",
    ]
  `)
})

import { expect, it } from 'vitest'
import * as publicSurface from '../src/index.ts'

it('exports these names and no others', () => {
  expect(Object.keys(publicSurface).sort()).toMatchInlineSnapshot(`
    [
      "FallBack",
      "NotPlannable",
      "SLICE_BYTES",
      "SchemaConflictError",
      "SourceNamesError",
      "answerSizeOf",
      "askAll",
      "assignNames",
      "createAttachment",
      "createJoinCalls",
      "createTurns",
      "endOfRead",
      "exceededLimit",
      "fieldOf",
      "fieldsBelow",
      "groupBy",
      "isJoinKey",
      "markMember",
      "markTeller",
      "memberIn",
      "memberOf",
      "mergeRecorded",
      "mergeSources",
      "nameSource",
      "nearestNames",
      "offerField",
      "ownIsTypeOf",
      "ownNameOf",
      "parseInSlices",
      "prepareArguments",
      "prepareJoin",
      "recordedJoin",
      "recordedRoot",
      "resolverBehind",
      "sharedOf",
      "stringifySlices",
      "tellerOf",
      "useSources",
      "writeInSlices",
    ]
  `)
})

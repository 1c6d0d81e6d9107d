import { expect, it } from 'vitest'
import * as publicNames from '../src/index.ts'

it('exports these names', () => {
  expect(Object.keys(publicNames).toSorted()).toEqual([
    'GrpcCallError',
    'GrpcTransportError',
    'LONGEST_TIMEOUT_MS',
    'STATUS_NAMES',
    'createHttp2Transport',
    'createTlsContext',
    'toReplyMetadata',
  ])
})

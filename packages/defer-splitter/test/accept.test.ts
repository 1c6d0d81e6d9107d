import { expect, it } from 'vitest'
import { parseMultipartAccept } from '../src/accept.ts'

const bare = { format: 'patches', parameter: undefined }
const deferSpec = { format: 'patches', parameter: 'deferSpec=20220824' }
const incrementalSpec = { format: 'pending', parameter: 'incrementalSpec=v0.2' }

it.each([
  ['no header', null, undefined],
  ['anything', '*/*', undefined],
  ['any multipart', 'multipart/*', undefined],
  ['JSON', 'application/json', undefined],
  ['bare', 'multipart/mixed', bare],
  ['in capitals', 'Multipart/Mixed', bare],
  ['among others', 'application/json, text/event-stream, multipart/mixed', bare],
  ['Apollo Client', 'multipart/mixed;deferSpec=20220824,application/json', deferSpec],
  ['quoted', 'multipart/mixed; deferSpec="20220824"', deferSpec],
  ['the later format', 'multipart/mixed;incrementalSpec=v0.2, application/json', incrementalSpec],
  ['a format that we do not speak', 'multipart/mixed;deferSpec=20991231', undefined],
  ['one of two formats', 'multipart/mixed;deferSpec=20991231, multipart/mixed', bare],
  [
    'the preferred of two',
    'multipart/mixed;q=0.5, multipart/mixed;incrementalSpec=v0.2;q=0.9',
    incrementalSpec,
  ],
  ['the first of two equals', 'multipart/mixed;deferSpec=20220824, multipart/mixed', deferSpec],
  ['refused', 'multipart/mixed;q=0, application/json', undefined],
  ['a subscription boundary parameter', 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"', bare],
  ['broken quality', 'multipart/mixed;q=high', undefined],
])('%s', (_, header, expected) => {
  expect(parseMultipartAccept(header)).toEqual(expected)
})

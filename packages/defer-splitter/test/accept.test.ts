import { describe, expect, it } from 'vitest'
import { parseMultipartAccept } from '../src/wire/accept.ts'

const bare = { format: 'patches', parameter: undefined }
const deferSpec = { format: 'patches', parameter: 'deferSpec=20220824' }
const incrementalSpec = { format: 'pending', parameter: 'incrementalSpec=v0.2' }

describe('the format that a header names', () => {
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
    ['a boundary', 'multipart/mixed;boundary="graphql"', bare],
    ['the format of subscriptions', 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0', undefined],
    ['a format of yet another name', 'multipart/mixed;incrementalDeliverySpec=3283f8a', undefined],
    ['two formats at once', 'multipart/mixed;deferSpec=20220824;incrementalSpec=v0.2', undefined],
    ['broken quality', 'multipart/mixed;q=high', undefined],
  ])('%s', (_, header, expected) => {
    expect(parseMultipartAccept(header).multipart).toEqual(expected)
  })
})

describe('what a header prefers', () => {
  it.each([
    ['no header', null, 'json'],
    ['JSON', 'application/json', 'json'],
    ['anything', '*/*', 'json'],
    ['multipart', 'multipart/mixed', 'multipart'],
    ['either', 'application/json, multipart/mixed', 'multipart'],
    ['JSON over multipart', 'multipart/mixed;q=0.1, application/json', 'json'],
    ['multipart over JSON', 'multipart/mixed;q=0.2, application/json;q=0.1', 'multipart'],
    ['anything over multipart', '*/*, multipart/mixed;deferSpec=20220824;q=0.5', 'json'],
    ['multipart over anything', 'multipart/mixed, */*;q=0.1', 'multipart'],
    ['JSON by the range that names it', 'application/json;q=0.1, */*, multipart/mixed;q=0.5', 'multipart'],
    [
      'the better of both JSON types',
      'application/json;q=0.1, application/graphql-response+json, multipart/mixed;q=0.5',
      'json',
    ],
    [
      'an unknown format or JSON',
      'multipart/mixed;incrementalDeliverySpec=3283f8a, application/json',
      'json',
    ],
    ['only an unknown format', 'multipart/mixed;incrementalDeliverySpec=3283f8a', 'neither'],
    ['an unknown format, JSON refused', 'multipart/mixed;deferSpec=1, application/json;q=0', 'neither'],
    ['an unknown format or an event stream', 'multipart/mixed;deferSpec=1, text/event-stream', 'json'],
    ['everything refused', 'multipart/mixed;q=0', 'json'],
    [
      'multipart where both JSON types are refused',
      'multipart/mixed;q=0.5, application/json;q=0, application/graphql-response+json;q=0, */*',
      'multipart',
    ],
    ['JSON, with a comma between quotes', 'multipart/mixed;a="b, c";q=0.5, application/json', 'json'],
  ])('%s', (_, header, expected) => {
    expect(parseMultipartAccept(header).preferred).toBe(expected)
  })
})

describe('whether a header takes no JSON', () => {
  it.each([
    ['multipart', 'multipart/mixed', true],
    ['JSON refused', 'multipart/mixed, application/json;q=0', true],
    ['either', 'multipart/mixed, application/json;q=0.1', false],
    ['anything', 'multipart/mixed, */*;q=0.1', false],
    ['only an unknown format', 'multipart/mixed;incrementalDeliverySpec=3283f8a', false],
    ['no header', null, false],
  ])('%s', (_, header, expected) => {
    expect(parseMultipartAccept(header).isAlone).toBe(expected)
  })
})

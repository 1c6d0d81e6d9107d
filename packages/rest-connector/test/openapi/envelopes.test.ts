import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { printSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createRestConnector,
  describeFinding,
  importOpenApi,
  useRestConnector,
  type OpenApiOptions,
} from '../../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const string = { type: 'string' }
const integer = { type: 'integer', format: 'int32' }
const id = { name: 'item-id', in: 'path', required: true, schema: string }
const Item = {
  type: 'object',
  properties: { id: string, owner: { type: 'object', properties: { id: string } } },
}
const json = (schema: object) => ({ 'application/json': { schema } })

const document = {
  openapi: '3.0.3',
  info: { title: 't', version: '1' },
  components: {
    schemas: { Item },
    headers: { Link: { schema: string }, Total: { description: 'How many there are.', schema: integer } },
    links: { Self: { operationId: 'getItem', parameters: { 'path.item-id': '$response.body#/id' } } },
  },
  paths: {
    '/items': {
      get: {
        operationId: 'listItems',
        parameters: [{ name: 'page', in: 'query', schema: integer }],
        responses: {
          200: {
            headers: {
              Link: { $ref: '#/components/headers/Link' },
              'X-Total': { $ref: '#/components/headers/Total' },
              'X-Sort': { schema: { type: 'string', enum: ['a', 'b'] } },
              'Content-Type': { schema: string },
            },
            content: json({ type: 'array', items: { $ref: '#/components/schemas/Item' } }),
          },
        },
      },
      post: {
        operationId: 'createItem',
        requestBody: { content: json({ type: 'object', properties: { parent: string } }) },
        responses: {
          201: {
            headers: { Location: { schema: { type: 'string', format: 'uri' } } },
            content: json({ $ref: '#/components/schemas/Item' }),
            links: {
              self: { $ref: '#/components/links/Self' },
              Parent: { operationId: 'getItem', parameters: { 'item-id': '$request.body#/parent' } },
              again: { operationId: 'createItem' },
              nowhere: { operationId: 'deleteItem' },
              odd: { operationId: 'getItem', parameters: { 'item-id': '$request.query.what' } },
              other: { operationId: 'getItem', parameters: { what: 1 } },
            },
          },
        },
      },
    },
    '/items/{item-id}': {
      get: {
        operationId: 'getItem',
        parameters: [id, { name: 'lang', in: 'query', schema: string }],
        responses: {
          200: {
            headers: { ETag: { schema: string } },
            content: json({ $ref: '#/components/schemas/Item' }),
            links: {
              body: {
                operationRef: '#/paths/~1items~1%7Bitem-id%7D/get',
                parameters: { 'item-id': '$response.body#/owner/id', lang: '$request.query.lang' },
              },
            },
          },
        },
      },
    },
  },
}

async function schemaOf(options: OpenApiOptions): Promise<string> {
  const imported = await importOpenApi(document, { env: {}, ...options })
  const connector = cleanup.use(createRestConnector('c', { ...imported, baseUrl: 'http://localhost' }))
  return printSchema(connector.schema)
}

describe('headers and links of a document', () => {
  it('change nothing where nobody asks for them', async () => {
    expect(await schemaOf({})).not.toMatch(/Reply/)
  })

  it('are fields beside the body, of operations that document them', async () => {
    const sdl = await schemaOf({ headers: true, links: true, nextPage: true })
    expect(sdl).toContain('listItems(page: Int): ListItemsReply')
    for (const field of [
      'body: [Item]',
      'headers: ListItemsReplyHeaders!',
      'next: ListItemsReply',
      'link: String',
      '"""How many there are."""\n  xTotal: Int',
      'xSort: String',
      'location: URI',
      'self(lang: String): GetItemReply',
      'parent(lang: String): GetItemReply',
      'bodyLink: GetItemReply',
    ])
      expect(sdl).toContain(field)
    expect(sdl).not.toMatch(/contentType|XSort/)
  })

  it.each([
    ['headers of some names', { headers: ['x-TOTAL'] }, /xTotal: Int/, /link: String|CreateItemReply|next/],
    ['links of some names', { links: ['Parent'] }, /parent\(/, /self\(|ListItemsReply/],
    ['pages of operations with a Link header', { nextPage: true }, /next: ListItemsReply/, /GetItemReply/],
    ['pages of some operations', { nextPage: ['getItem'] }, /next: GetItemReply/, /ListItemsReply|headers/],
  ] as const)('%s', async (_, options, has, hasNot) => {
    const sdl = await schemaOf(options)
    expect(sdl).toMatch(has)
    expect(sdl).not.toMatch(hasNot)
  })

  it('are told where they cannot be followed, and stop nothing else', async () => {
    const { findings } = await importOpenApi(document, { env: {}, links: true })
    const told = findings.map(describeFinding).filter((line) => line.includes('link'))
    expect(told).toHaveLength(4)
    for (const [link, reason] of [
      ['again', 'a mutation'],
      ['nowhere', 'was not imported'],
      ['odd', '"$request.query.what"'],
      ['other', 'no parameter "what"'],
    ] as const)
      expect(told.some((line) => line.includes(`"${link}"`) && line.includes(reason))).toBe(true)
  })

  it('are followed with what the answer holds', async () => {
    const backend = cleanup.use(
      await startRestBackend(({ method, url }) => ({
        json: { id: method === 'POST' ? 'new' : url.pathname + url.search, owner: { id: 'o/1' } },
        headers: { location: '/items/new' },
      })),
    )
    const imported = await importOpenApi(document, { env: {}, headers: true, links: true })
    const connector = cleanup.use(createRestConnector('c', { ...imported, baseUrl: backend.url }))
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
    const ask = async (query: string): Promise<unknown> =>
      (
        await yoga.fetch('http://yoga/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        })
      ).json()
    expect(
      await ask(`mutation { createItem(input: { parent: "p" }) {
        body { id } headers { location } self { body { id } } parent(lang: "de") { body { id } }
      } }`),
    ).toEqual({
      data: {
        createItem: {
          body: { id: 'new' },
          headers: { location: '/items/new' },
          self: { body: { id: '/items/new' } },
          parent: { body: { id: '/items/p?lang=de' } },
        },
      },
    })
    expect(
      await ask(
        '{ getItem(item_id: "a", lang: "fr") { bodyLink { body { id } } } }'.replace('item_id', 'itemId'),
      ),
    ).toEqual({ data: { getItem: { bodyLink: { body: { id: '/items/o%2F1?lang=fr' } } } } })
  })
})

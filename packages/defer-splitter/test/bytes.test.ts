import { describe, expect, it } from 'vitest'
import { createTestServer } from './support/server.ts'

describe.each(['eager'] as const)('the bytes on the wire, %s', (strategy) => {
  const server = createTestServer({ options: { strategy } })
  const wire = async (query: string, init = {}) => (await server.text(query, init)).replaceAll('\r\n', '\\r\\n\n')

  it('first part, later part, closing delimiter', async () => {
    const response = await server.post('{ user { id ... @defer(label: "details") { bio } } }')
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'multipart/mixed; boundary="-"',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      incremental: '?1',
      vary: 'Accept',
    })
    expect((await response.text()).replaceAll('\r\n', '\\r\\n\n')).toMatchInlineSnapshot()
  })

  it('without a label there is no label', async () => {
    expect(await wire('{ user { id ... @defer { bio } } }')).toMatchInlineSnapshot()
  })

  it('if: false leaves the fields in one plain result', async () => {
    const query = 'query ($if: Boolean!) { user { id ... @defer(if: $if) { bio } } }'
    expect(await wire(query, { variables: { if: false } })).toMatchInlineSnapshot()
    expect(await wire(query, { variables: { if: true } })).toMatchInlineSnapshot()
  })

  it('if: false beside a deferred fragment leaves its fields in the first part', async () => {
    expect(
      await wire('{ user { id ... @defer(if: false) { name } ... @defer(label: "b") { bio } } }'),
    ).toMatchInlineSnapshot()
  })

  it('nested fragments, the outer one before the inner', async () => {
    expect(
      await wire(
        '{ user { id ... @defer(label: "outer") { name friend { id ... @defer(label: "inner") { bio } } } } }',
      ),
    ).toMatchInlineSnapshot()
  })

  it('list items get a patch each, null items none', async () => {
    expect(await wire('{ users { id ... @defer(label: "bio") { bio } } }')).toMatchInlineSnapshot()
  })

  it('aliases', async () => {
    expect(
      await wire('{ me: user { key: id ... @defer(label: "a") { text: bio } } }'),
    ).toMatchInlineSnapshot()
  })

  it('named fragments', async () => {
    expect(
      await wire('{ user { id ...Details @defer(label: "named") } } fragment Details on User { bio name }'),
    ).toMatchInlineSnapshot()
  })

  it('fields that the first part selects too', async () => {
    expect(
      await wire(
        '{ user { id friend { id } ... @defer(label: "more") { id friend { name } } } }',
      ),
    ).toMatchInlineSnapshot()
  })

  it('an error belongs to its patch and is masked', async () => {
    expect(await wire('{ user { id ... @defer(label: "bad") { name broken } } }')).toMatchInlineSnapshot()
  })

  it('an error of the first part stays there', async () => {
    expect(await wire('{ user { id broken ... @defer(label: "ok") { name } } }')).toMatchInlineSnapshot()
  })

  it('a null parent has no patch', async () => {
    expect(await wire('{ nobody { id ... @defer(label: "none") { bio } } }')).toMatchInlineSnapshot()
    expect(
      await wire('{ nobody { ... @defer { bio } } user { ... @defer(label: "some") { bio } } }'),
    ).toMatchInlineSnapshot()
  })

  it('abstract types without a selected __typename', async () => {
    expect(
      await wire(
        '{ pets { ... on Cat { name } ... on Dog @defer(label: "dog") { name barks } ... on Cat @defer(label: "cat") { lives } } }',
      ),
    ).toMatchInlineSnapshot()
  })

  it('below a mutation', async () => {
    expect(
      await wire('mutation { rename(name: "Eve") { name ... @defer(label: "later") { bio } } }'),
    ).toMatchInlineSnapshot()
  })
})

describe('the boundary', () => {
  it('is the one that is set', async () => {
    const server = createTestServer({ options: { multipartBoundary: 'part boundary:1' } })
    const response = await server.post('{ user { id ... @defer { bio } } }')
    expect(response.headers.get('content-type')).toBe('multipart/mixed; boundary="part boundary:1"')
    expect((await response.text()).replaceAll('\r\n', '\\r\\n\n')).toMatchInlineSnapshot()
  })
})

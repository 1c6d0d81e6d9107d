import { describe, expect, it } from 'vitest'
import { createTestServer } from './support/server.ts'

describe.each(['eager', 'streaming'] as const)('the bytes on the wire, %s', (strategy) => {
  const server = createTestServer({ options: { strategy } })
  const wire = async (query: string, init = {}) =>
    (await server.text(query, init)).replaceAll('\r\n', '\\r\\n\n')

  it('first part, later part, closing delimiter', async () => {
    const response = await server.post('{ user { id ... @defer(label: "details") { bio } } }')
    expect(response.status).toBe(200)
    expect([...response.headers].map(([name, value]) => `${name}: ${value}`).sort()).toEqual([
      'Cache-Control: no-cache, no-store, no-transform',
      'Content-Type: multipart/mixed; boundary="-"',
      'Incremental: ?1',
      'Vary: Accept',
      'X-Accel-Buffering: no',
    ])
    expect((await response.text()).replaceAll('\r\n', '\\r\\n\n')).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"first"},"path":["user"],"label":"details"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('without a label there is no label', async () => {
    expect(await wire('{ user { id ... @defer { bio } } }')).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"first"},"path":["user"]}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('if: false leaves the fields in one plain result', async () => {
    const query = 'query ($if: Boolean!) { user { id ... @defer(if: $if) { bio } } }'
    expect(await wire(query, { variables: { if: false } })).toMatchInlineSnapshot(
      `"{"data":{"user":{"id":"1","bio":"first"}}}"`,
    )
    expect(await wire(query, { variables: { if: true } })).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"first"},"path":["user"]}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('if: false beside a deferred fragment leaves its fields in the first part', async () => {
    expect(await wire('{ user { id ... @defer(if: false) { name } ... @defer(label: "b") { bio } } }'))
      .toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1","name":"Ada"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"first"},"path":["user"],"label":"b"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('list items get a patch each, null items none', async () => {
    expect(await wire('{ users { id ... @defer(label: "bio") { bio } } }')).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"users":[{"id":"1"},null,{"id":"2"}]},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"first"},"path":["users",0],"label":"bio"},{"data":{"bio":"second"},"path":["users",2],"label":"bio"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('aliases', async () => {
    expect(await wire('{ me: user { key: id ... @defer(label: "a") { text: bio } } }'))
      .toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"me":{"key":"1"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"text":"first"},"path":["me"],"label":"a"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('named fragments', async () => {
    expect(
      await wire('{ user { id ...Details @defer(label: "named") } } fragment Details on User { bio name }'),
    ).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"first","name":"Ada"},"path":["user"],"label":"named"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('fields that the first part selects too', async () => {
    expect(await wire('{ user { id friend { id } ... @defer(label: "more") { id friend { name } } } }'))
      .toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1","friend":{"id":"2"}}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"id":"1","friend":{"name":"Bob"}},"path":["user"],"label":"more"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('an error belongs to its patch and is masked', async () => {
    expect(await wire('{ user { id ... @defer(label: "bad") { name broken } } }')).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"name":"Ada","broken":null},"path":["user"],"label":"bad","errors":[{"message":"Unexpected error.","locations":[{"line":1,"column":45}],"path":["user","broken"],"extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('an error of the first part stays there', async () => {
    expect(await wire('{ user { id broken ... @defer(label: "ok") { name } } }')).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1","broken":null}},"errors":[{"message":"Unexpected error.","locations":[{"line":1,"column":13}],"path":["user","broken"],"extensions":{"code":"INTERNAL_SERVER_ERROR"}}],"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"name":"Ada"},"path":["user"],"label":"ok"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('a null parent has no patch', async () => {
    expect(await wire('{ nobody { id ... @defer(label: "none") { bio } } }')).toMatchInlineSnapshot(
      `"{"data":{"nobody":null}}"`,
    )
    expect(await wire('{ nobody { ... @defer { bio } } user { ... @defer(label: "some") { bio } } }'))
      .toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"nobody":null,"user":{}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"first"},"path":["user"],"label":"some"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('abstract types without a selected __typename', async () => {
    expect(
      await wire(
        '{ pets { ... on Cat { name } ... on Dog @defer(label: "dog") { name barks } ... on Cat @defer(label: "cat") { lives } } }',
      ),
    ).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"pets":[{},{"name":"Tom"}]},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"name":"Rex","barks":true},"path":["pets",0],"label":"dog"},{"data":{"lives":9},"path":["pets",1],"label":"cat"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('below a mutation', async () => {
    expect(await wire('mutation { rename(name: "Eve") { name ... @defer(label: "later") { bio } } }'))
      .toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"rename":{"name":"Eve"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"first"},"path":["rename"],"label":"later"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })
})

describe('nested fragments, the outer one before the inner', () => {
  const query =
    '{ user { id ... @defer(label: "outer") { name friend { id ... @defer(label: "inner") { bio } } } } }'

  it('eager: in one part', async () => {
    const body = await createTestServer({ options: { strategy: 'eager' } }).text(query)
    expect(body.replaceAll('\r\n', '\\r\\n\n')).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"name":"Ada","friend":{"id":"2"}},"path":["user"],"label":"outer"},{"data":{"bio":"second"},"path":["user","friend"],"label":"inner"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })

  it('streaming: each as soon as it is ready', async () => {
    const body = await createTestServer({ options: { strategy: 'streaming' } }).text(query)
    expect(body.replaceAll('\r\n', '\\r\\n\n')).toMatchInlineSnapshot(`
      "\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1"}},"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"name":"Ada","friend":{"id":"2"}},"path":["user"],"label":"outer"}],"hasNext":true}\\r\\n
      ---\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"second"},"path":["user","friend"],"label":"inner"}],"hasNext":false}\\r\\n
      -----\\r\\n
      "
    `)
  })
})

describe('the boundary', () => {
  it('is the one that is set', async () => {
    const server = createTestServer({ options: { multipartBoundary: 'part boundary:1' } })
    const response = await server.post('{ user { id ... @defer { bio } } }')
    expect(response.headers.get('content-type')).toBe('multipart/mixed; boundary="part boundary:1"')
    expect((await response.text()).replaceAll('\r\n', '\\r\\n\n')).toMatchInlineSnapshot(`
      "\\r\\n
      --part boundary:1\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"data":{"user":{"id":"1"}},"hasNext":true}\\r\\n
      --part boundary:1\\r\\n
      Content-Type: application/json; charset=utf-8\\r\\n
      \\r\\n
      {"incremental":[{"data":{"bio":"first"},"path":["user"]}],"hasNext":false}\\r\\n
      --part boundary:1--\\r\\n
      "
    `)
  })
})

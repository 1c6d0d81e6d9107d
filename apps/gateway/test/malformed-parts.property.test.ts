import { describe, expect, it } from 'vitest'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

const part = (head: string, content: string): string => `--b\r\n${head}\r\n${content}`
const named = (name: string, content: string): string =>
  `${part(`content-disposition: form-data; name="${name}"\r\n`, content)}\r\n`
const OPERATIONS = named('operations', '{"query":"{ hello }"}') + named('map', '{}')

/** Heads of a part; what is in it can be used by nobody. */
const HEADS: Readonly<Record<string, string>> = {
  none: '',
  'no disposition': 'x-y: z\r\n',
  'another disposition': 'content-disposition: attachment\r\n',
  'a line that is no header': 'hello\r\n',
  'no name': 'content-disposition: form-data\r\n',
  'an empty name': 'content-disposition: form-data; name=""\r\n',
  'a line break in its name': 'content-disposition: form-data; name="a\rb"\r\n',
  'a file without a name': 'content-disposition: form-data; filename="a"\r\n',
  'bytes without a name': 'content-disposition: form-data\r\ncontent-type: application/octet-stream\r\n',
  'a file that nobody asked for': 'content-disposition: form-data; name="x"; filename="a"\r\n',
  'the name of a prototype': 'content-disposition: form-data; name="__proto__"\r\n',
  'an unknown charset':
    'content-disposition: form-data; name="a"\r\ncontent-type: text/plain; charset=nope\r\n',
  'a header of 100 kB': `content-disposition: form-data; name="${'n'.repeat(100_000)}"\r\n`,
}

describe.each([
  ['read whole', undefined],
  ['streamed', {}],
])('forms that are %s', (_, uploads) => {
  it.each(Object.entries(HEADS))(
    'a part whose head is %s is answered, and breaks nothing',
    async (_, head) => {
      const graphql = { csrfPrevention: false, uploads }
      const { endpoint } = await startGateway({ ...OWN_SCHEMA, preset: 'production', graphql })
      const ask = (body: string): Promise<Response> =>
        fetch(endpoint, {
          method: 'POST',
          body,
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
          signal: AbortSignal.timeout(5_000),
        })
      for (const size of [0, 10, 17_000, 70_000, 900_000])
        for (const before of [OPERATIONS, ''])
          for (const end of ['\r\n--b--\r\n', '\r\n--b', '']) {
            const { status } = await ask(before + part(head, 'x'.repeat(size)) + end)
            expect([size, before.length, end, status]).toEqual([size, before.length, end, expect.any(Number)])
            expect([200, 400]).toContain(status)
          }
      const { status } = await ask(`${OPERATIONS}--b--\r\n`)
      expect(status).toBe(200)
    },
  )
})

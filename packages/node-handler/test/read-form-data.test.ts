import { expect, it } from 'vitest'
import { readFormData } from '../src/uploads/use-uploads.ts'

const fetchAPI = { FormData, File } as Parameters<typeof readFormData>[2]

function read(...parts: readonly string[]): Promise<FormData> {
  const body = parts.map((part) => `--xyz\r\ncontent-disposition: form-data; ${part}\r\n`).join('')
  return readFormData(
    new Uint8Array(Buffer.from(`${body}--xyz--\r\n`)),
    'multipart/form-data; boundary=xyz',
    fetchAPI,
  )
}

it('gives fields as texts, and of one name the last', async () => {
  const form = await read('name="a"\r\n\r\n1', 'name="b"\r\n\r\n2', 'name="a"\r\n\r\n3')
  expect([...form.entries()]).toEqual([
    ['a', '3'],
    ['b', '2'],
  ])
})

it.each([
  ['with a name', 'name="f"; filename="a.css"\r\ncontent-type: text/css', ['a.css', 'text/css']],
  [
    'of bytes without a name',
    'name="f"\r\ncontent-type: application/octet-stream',
    ['', 'application/octet-stream'],
  ],
])('gives a file %s', async (_, head, expected) => {
  const file = (await read(`${head}\r\n\r\np {}`)).get('f') as File
  expect([file.name, file.type]).toEqual(expected)
  expect(await file.text()).toBe('p {}')
})

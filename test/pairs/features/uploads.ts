import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constant } from 'fast-check'
import type { Feature, Session, Surroundings, Value } from '../feature.ts'
import { mergePieces, type Piece } from '../config-file.ts'
import { digestOf } from '../library.ts'
import { idOf, UPLOADS } from '../operations.ts'
import { type User, USERS } from '../users.ts'

/** Bytes that are no UTF-8, and enough of them that they come in several pieces. */
function fileOf(user: User): Buffer {
  const seed = createHash('sha512').update(user.name).digest()
  return Buffer.concat(Array.from({ length: 3_000 }, () => seed))
}

const endpoint = (name: string, path: string, args: Piece, body: Piece): Piece => ({
  name,
  method: 'PUT',
  path,
  args: { id: 'ID!', ...args },
  body,
  returnType: 'String',
  changes: [],
})

/** Swagger 2, with a parameter that operations share. */
const FORMS = {
  swagger: '2.0',
  info: { title: 'Forms', version: '1' },
  parameters: { id: { name: 'id', in: 'path', required: true, type: 'string' } },
  paths: {
    '/forms/{id}': {
      put: {
        operationId: 'setForm',
        consumes: ['multipart/form-data'],
        produces: ['application/json'],
        parameters: [
          { $ref: '#/parameters/id' },
          { name: 'file', in: 'formData', required: true, type: 'file' },
        ],
        responses: { 200: { description: 'its digest', schema: { type: 'string' } } },
      },
    },
  },
}

const sourcesWith = ({ rest, folder }: Surroundings): Piece => {
  writeFileSync(join(folder, 'forms.json'), JSON.stringify(FORMS))
  return mergePieces([SOURCES, { rest: { forms: { openapi: 'forms.json', baseUrl: rest } } }])
}

const SOURCES: Piece = {
  rest: {
    authors: {
      endpoints: [endpoint('setCover', '/covers/{id}', { input: 'Upload!' }, { contentType: 'image/png' })],
    },
  },
  grpc: {
    books: {
      uploads: true,
      methods: {
        'library.v1.Books.SetBlurb': { schema: { type: 'MUTATION', name: 'setBlurb' }, changes: [] },
      },
    },
  },
}

/** Files in a multipart request reach each source byte by byte, and those that come as base64 text too. */
async function upload(session: Session): Promise<void> {
  const [first, second] = USERS as readonly [User, User]
  for (const [kind, query] of Object.entries(UPLOADS)) {
    for (const user of [first, second]) {
      await send(session, user, kind, query, 'multipart')
      await send(session, user, kind, query, 'base64')
    }
  }
}

async function send(
  { endpoint, headers, plainWay, beside, violate }: Session,
  user: User,
  kind: string,
  query: string,
  form: 'multipart' | 'base64',
): Promise<void> {
  const file = fileOf(user)
  const text = plainWay === 'id' ? { documentId: `sha256:${idOf(query)}` } : { query }
  const variables = { id: '1', file: form === 'base64' ? file.toString('base64') : null }
  const operation = JSON.stringify({ ...text, variables })
  const body = new FormData()
  body.set('operations', operation)
  body.set('map', '{"0":["variables.file"]}')
  body.set('0', new Blob([new Uint8Array(file)]), 'cover.png')
  const type: Record<string, string> = form === 'base64' ? { 'content-type': 'application/json' } : {}
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { ...user.headers, ...headers, ...type, 'x-client': `${user.name} ${kind} ${form}` },
    body: form === 'base64' ? operation : body,
  })
  const answer = await response.text()
  if (response.status === 200) beside('requests', 1)
  beside('mutations', 1)
  beside('bypassed', 1)
  if (!answer.includes(digestOf(file)))
    violate(`${kind}: a file that came as ${form} is another at the backend: ${answer.slice(0, 300)}`)
}

const value = (name: string, graphql: Piece): Value => ({
  name,
  operations: ['uploads'],
  config: (surroundings) => constant(mergePieces([sourcesWith(surroundings), { graphql }])),
  during: async (session) => () => upload(session),
})

export const uploads: Feature = {
  name: 'uploads',
  settings: ['graphql', 'rest', 'grpc'],
  values: [
    { name: 'off' },
    value('whole', {}),
    value('streamed', { uploads: { maxFileBytes: 1_000_000, maxFiles: 2, maxIdleMs: 5_000 } }),
  ],
}

import { createHash } from 'node:crypto'
import type { Metadata } from '@grpc/grpc-js'
import { status } from '@grpc/grpc-js'
import {
  type GrpcBackend,
  grpcError,
  type RestAnswer,
  type RestBackend,
  startGrpcBackend,
  startRestBackend,
} from '@vinyasa/test-kit'
import { subjectOf } from './users.ts'

export interface Book {
  readonly id: string
  readonly title: string
  readonly pages: number
  readonly authorId: string
}

export interface Author {
  readonly id: string
  readonly name: string
  readonly email: string
}

/** What both backends hold after so many changes. */
export interface Shelves {
  readonly books: readonly Book[]
  readonly authors: readonly Author[]
}

/** Names the request headers that an caller can be told apart by, as backends get them. */
export const CALLER_HEADERS = ['authorization', 'x-tenant', 'x-user'] as const

/** A gRPC and a REST backend over the same shelves, every state of which is kept. */
export interface Library {
  readonly grpc: GrpcBackend
  readonly rest: RestBackend
  /** The state after each change, the first one before any. */
  readonly states: readonly Shelves[]
  /** Changes a title behind the gateway's back. */
  rename(id: string, title: string): void
  [Symbol.asyncDispose](): Promise<void>
}

export const PROTO = `syntax = "proto3";
package library.v1;
service Books {
  rpc GetBook(IdRequest) returns (Book);
  rpc ListBooks(ListRequest) returns (BookList);
  rpc FindBook(IdRequest) returns (Book);
  rpc RenameBook(RenameRequest) returns (Book);
  rpc SetBlurb(BlurbRequest) returns (Blurb);
}
message IdRequest { string id = 1; }
message ListRequest { int32 limit = 1; }
message RenameRequest { string id = 1; string title = 2; }
message Book { string id = 1; string title = 2; int32 pages = 3; string author_id = 4; }
message BookList { repeated Book books = 1; }
message BlurbRequest { string id = 1; bytes data = 2; }
message Blurb { string digest = 1; }
`

/** What both backends answer to a file. */
export const digestOf = (file: Uint8Array): string => createHash('sha256').update(file).digest('hex')

/** The content of the only part of a multipart body. */
function partOf(body: Buffer): Buffer {
  const boundary = body.subarray(0, body.indexOf('\r\n'))
  return body.subarray(body.indexOf('\r\n\r\n') + 4, body.lastIndexOf(boundary) - 2)
}

/** What a backend says to whoever asks for a book by a wrong shelf mark. */
export const WRONG_MARK = 'no such shelf mark: Q-17'

/** How long the slow endpoint takes: an answer is under way when the gateway is told to end. */
const SLOW_MS = 600

/** Marks every text with the caller's headers that came along, so that it tells for whom it was fetched. */
export function markOf(header: (name: string) => string | undefined): string {
  const marks = CALLER_HEADERS.flatMap((name) => {
    const value = header(name)
    if (value === undefined || value === '') return []
    return [`<${name}=${name === 'authorization' ? subjectOf(value) : value}>`]
  })
  return marks.join('')
}

const FIRST: Shelves = {
  books: [
    { id: '1', title: 'Emma', pages: 474, authorId: '1' },
    { id: '2', title: 'Persuasion', pages: 249, authorId: '1' },
    { id: '3', title: 'Middlemarch', pages: 880, authorId: '2' },
    { id: '4', title: 'Villette', pages: 490, authorId: '3' },
  ],
  authors: [
    { id: '1', name: 'Austen', email: 'jane@example.org' },
    { id: '2', name: 'Eliot', email: 'george@example.org' },
    { id: '3', name: 'Bronte', email: 'charlotte@example.org' },
  ],
}

export async function startLibrary(): Promise<Library> {
  const states: Shelves[] = [FIRST]
  const now = (): Shelves => states.at(-1) as Shelves

  function changeBook(id: string, title: string): Book | undefined {
    const books = now().books.map((book) => (book.id === id ? { ...book, title } : book))
    states.push({ ...now(), books })
    return books.find((book) => book.id === id)
  }

  function changeAuthor(id: string, name: string): Author | undefined {
    const authors = now().authors.map((author) => (author.id === id ? { ...author, name } : author))
    states.push({ ...now(), authors })
    return authors.find((author) => author.id === id)
  }

  const marked = (book: Book | undefined, metadata: Metadata): Book => {
    if (!book) throw grpcError(status.NOT_FOUND, 'not there')
    return { ...book, title: book.title + markOf((name) => metadata.get(name).map(String).join('+')) }
  }
  const grpc = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'library.v1.Books/GetBook': ({ id }: { id: string }, { metadata }) =>
        marked(
          now().books.find((book) => book.id === id),
          metadata,
        ),
      'library.v1.Books/ListBooks': (_request, { metadata }) => ({
        books: now().books.map((book) => marked(book, metadata)),
      }),
      'library.v1.Books/FindBook': () => {
        throw grpcError(status.INVALID_ARGUMENT, WRONG_MARK)
      },
      'library.v1.Books/RenameBook': ({ id, title }: { id: string; title: string }, { metadata }) =>
        marked(changeBook(id, title), metadata),
      'library.v1.Books/SetBlurb': ({ data }: { data: Buffer }) => ({ digest: digestOf(data) }),
    },
  })
  const rest = await startRestBackend((request): RestAnswer => {
    const { url, method, headers } = request
    const mark = markOf((name) => headers[name]?.toString())
    const told = (author: Author | undefined): RestAnswer =>
      author ? { json: { ...author, name: author.name + mark } } : { status: 404 }
    if (url.pathname.startsWith('/covers/')) return { json: digestOf(request.body) }
    if (url.pathname.startsWith('/forms/')) return { json: digestOf(partOf(request.body)) }
    if (url.pathname === '/slow') return { json: `slow${mark}`, delayMs: SLOW_MS }
    if (url.pathname === '/authors') {
      const ids = url.searchParams.getAll('ids')
      const asked = now().authors.filter(({ id }) => ids.length === 0 || ids.includes(id))
      return { json: asked.map((author) => ({ ...author, name: author.name + mark })) }
    }
    const id = /^\/authors\/(\w+)$/.exec(url.pathname)?.[1] ?? ''
    if (method === 'PUT') return told(changeAuthor(id, (request.json() as { name: string }).name))
    return told(now().authors.find((author) => author.id === id))
  })
  return {
    grpc,
    rest,
    states,
    rename: (id, title) => void changeBook(id, title),
    async [Symbol.asyncDispose]() {
      await Promise.all([grpc.stop(), rest.stop()])
    },
  }
}

import { createServer } from 'node:http'
import { serveProgram } from '../src/serve-program.ts'
import { posts, user } from './posts.ts'

const list = JSON.stringify({ items: posts })

/** `/posts`, `/users/1`, `/users?ids=1&ids=2`. */
function answerTo(url: string): string {
  if (url.startsWith('/posts')) return list
  if (url.startsWith('/users/')) return JSON.stringify(user(url.slice('/users/'.length)))
  const ids = new URLSearchParams(url.slice(url.indexOf('?'))).getAll('ids')
  return JSON.stringify(ids.map(user))
}

serveProgram(
  createServer((request, response) => {
    const text = answerTo(request.url ?? '')
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }),
)

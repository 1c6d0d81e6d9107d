import { createServer } from 'node:http'
import { serveProgram } from '../src/serve-program.ts'

// What node:http costs by itself: read a JSON body, look into it, answer JSON.
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { query } = JSON.parse(Buffer.concat(chunks).toString()) as { query: string }
    const text = JSON.stringify(query.includes('hello') ? { data: { hello: 'world' } } : { errors: [] })
    response.writeHead(200, {
      'content-type': 'application/graphql-response+json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  })
})
serveProgram(server)

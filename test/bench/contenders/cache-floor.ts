import { createServer } from 'node:http'
import { cacheItems } from '../src/cache-schema.ts'
import { serveProgram } from '../src/serve-program.ts'

// What node:http costs to read a JSON body and send the same bytes.
const text = Buffer.from(JSON.stringify({ data: { items: cacheItems } }))
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, {
      'content-type': 'application/graphql-response+json; charset=utf-8',
      'content-length': text.length,
    })
    response.end(text)
  })
})
serveProgram(server)

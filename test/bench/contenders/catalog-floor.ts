import { createServer } from 'node:http'
import { serveProgram } from '../src/serve-program.ts'
import { products } from './catalog.ts'

// What node:http costs to read a JSON body and send the same bytes.
const count = Number(process.env['BENCH_COUNT'])
const bytes = Buffer.from(JSON.stringify({ data: { products: { items: products(count) } } }))
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, {
      'content-type': 'application/graphql-response+json; charset=utf-8',
      'content-length': bytes.length,
    })
    response.end(bytes)
  })
})
serveProgram(server)

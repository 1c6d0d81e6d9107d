import { createServer } from 'node:http'
import { serveProgram } from '../src/serve-program.ts'
import { product, products } from './catalog.ts'

const one = JSON.stringify(product(1))
const hundred = JSON.stringify({ items: products(100) })

serveProgram(
  createServer((request, response) => {
    const text = request.url?.startsWith('/products/') ? one : hundred
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }),
)

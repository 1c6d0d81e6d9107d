import { createServer } from 'node:http'
import { serveProgram } from '../src/serve-program.ts'
import { product, products } from './catalog.ts'

const known = new Map<string, string>()
const hundred = JSON.stringify({ items: products(100) })

function one(id: string): string {
  let text = known.get(id)
  if (text === undefined) known.set(id, (text = JSON.stringify(product(Number(id)))))
  return text
}

const PRODUCT = '/products/'

serveProgram(
  createServer((request, response) => {
    const { url = '' } = request
    const text = url.startsWith(PRODUCT) ? one(url.slice(PRODUCT.length)) : hundred
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }),
)

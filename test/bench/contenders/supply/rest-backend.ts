import { createServer } from 'node:http'
import { serveProgram } from '../../src/serve-program.ts'
import { reviewsBy, reviewsOf, stockOf } from './data.ts'

const known = new Map<string, string>()

/** `/reviews?authorId=1&authorId=2`, `/reviews?productUpc=upc-1`, `/inventory?upc=upc-1`. */
function answerTo(url: string): object[] {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  if (pathname === '/inventory') return searchParams.getAll('upc').map(stockOf)
  return [
    ...searchParams.getAll('authorId').flatMap(reviewsBy),
    ...searchParams.getAll('productUpc').flatMap(reviewsOf),
  ]
}

serveProgram(
  createServer(({ url = '' }, response) => {
    let text = known.get(url)
    if (text === undefined) known.set(url, (text = JSON.stringify(answerTo(url))))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }),
)

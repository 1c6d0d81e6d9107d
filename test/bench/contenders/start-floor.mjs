import { createServer } from 'node:http'

const body = JSON.stringify({ data: { hello: 'world' } })
const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json').end(body)
})
server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`))

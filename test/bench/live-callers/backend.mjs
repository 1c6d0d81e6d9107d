// Items that all have one value, and say whose token came with the request. Told of another value by the process's parent.
import { createServer } from 'node:http'

const state = { value: 0, calls: 0 }

function callerOf({ authorization }) {
  if (authorization === undefined) return ''
  return JSON.parse(Buffer.from(authorization.split('.')[1], 'base64url').toString()).sub
}

const server = createServer(({ url, headers }, response) => {
  // Somebody else's plain queries are no runs.
  if (url !== '/items/besides') state.calls++
  const body = JSON.stringify({
    id: url.slice(url.lastIndexOf('/') + 1),
    value: state.value,
    caller: callerOf(headers),
  })
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
})
process.on('message', ({ value = state.value }) => {
  process.send({ calls: state.calls })
  Object.assign(state, { value, calls: 0 })
})
process.on('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }))

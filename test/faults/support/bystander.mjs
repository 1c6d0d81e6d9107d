// A process that nobody attacks: what delays its answers is the machine, not the attack.
import { createServer } from 'node:http'

const server = createServer((_, response) => response.end('{}'))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`bystander: http://127.0.0.1:${server.address().port}\n`)
})

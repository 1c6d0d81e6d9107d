// node:http in worker processes that share a port in one of three ways, and nothing else: what the sharing costs by itself.
import cluster from 'node:cluster'
import { createServer } from 'node:http'

const { BENCH_SHARING: sharing, BENCH_WORKERS: workers, BENCH_PORT: port } = process.env
const body = '{"data":{"hello":"world"}}'
const headers = { 'content-type': 'application/json', 'content-length': body.length }

if (cluster.isPrimary) {
  if (sharing === 'none') cluster.schedulingPolicy = cluster.SCHED_NONE
  for (let started = 0; started < Number(workers); started++) cluster.fork()
} else {
  createServer((request, response) => {
    request.resume()
    request.on('end', () => response.writeHead(200, headers).end(body))
  }).listen({ port: Number(port), host: '127.0.0.1', reusePort: sharing === 'reusePort' })
}

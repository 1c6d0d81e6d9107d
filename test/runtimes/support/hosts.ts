import { join } from 'node:path'
import type { Host } from './host.ts'
import { bundle, type Command, example, next, runtime, worker } from './kinds.ts'
import { bin } from './serve.ts'

const node: Command = () => [process.execPath]
const bun: Command = (installed) => [bin(installed, 'bun')]
const deno: Command = (installed) => [bin(installed, 'deno'), 'run', '--allow-all']

// Modules of CommonJS in a bundle ask for Node's by `require`. The line is the one that everybody has, with its names.
const REQUIRE = "import { createRequire } from 'module'; const require = createRequire(import.meta.url);"

const NODE_DOOR =
  '@vinyasa/node-handler works only with the HTTP server of Node. If your server uses Request objects, call yoga.fetch.'
const SOCKETS =
  '@vinyasa/grpc-source needs HTTP/2 sockets, which Node, Bun and Deno have. Run the server on one of these runtimes. If you bundle the server, use the export condition "node".'
const REQUESTS =
  '@vinyasa/live-query updates open requests from other requests, which Cloudflare Workers do not allow. Run the server on Node, Bun or Deno.'

export const hosts: readonly Host[] = [
  runtime('node-20', node),
  runtime('node-22', (installed) => [join(installed, 'node_modules/node-22/bin/node')]),
  runtime('node-24', (installed) => [join(installed, 'node_modules/node-24/bin/node')]),
  runtime('bun', bun),
  runtime('deno', deno),
  bundle('esbuild', (installed) => [
    bin(installed, 'esbuild'),
    '--bundle',
    '--platform=node',
    '--format=esm',
    `--banner:js=${REQUIRE}`,
    '--outfile=main.js',
  ]),
  bundle('rolldown', (installed) => [
    bin(installed, 'rolldown'),
    '--platform=node',
    '--format=esm',
    '--dir=.',
    '--input',
  ]),
  example('express', node),
  example('fastify', node),
  example('fastify', node, { server: 'server-parsed.js' }),
  example('fastify', node, { server: 'server-middie.js' }),
  example('koa', node),
  example('nest', node),
  example('hono', node, { without: { 'node-handler': NODE_DOOR } }),
  example('bun', bun, { without: { 'node-handler': NODE_DOOR } }),
  example('deno', deno, { without: { 'node-handler': NODE_DOOR } }),
  next('next', { without: { 'node-handler': NODE_DOOR } }),
  worker('worker', {
    refuses: { 'node-handler': NODE_DOOR, 'grpc-source': SOCKETS, 'live-query': REQUESTS },
  }),
]

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
  "@vinyasa/node-handler is for Node's own HTTP server: where requests are Request objects, call yoga.fetch."
const SOCKETS =
  '@vinyasa/grpc-source needs the sockets of Node, Bun or Deno for HTTP/2: run this server there, or bundle it with the export condition "node".'
const REQUESTS =
  '@vinyasa/live-query keeps requests open that other requests wake, which Cloudflare Workers do not allow: run this server on Node, Bun or Deno.'

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

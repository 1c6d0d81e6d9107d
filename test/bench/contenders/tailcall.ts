import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@vinyasa/test-kit'
import { usageOf } from '../src/process-usage.ts'
import { announceProgram } from '../src/serve-program.ts'
import { versionOf } from '../src/versions.ts'

// Tailcall on a config of its own kind, for the scenario whose backends there are. It is a program in Rust: this one starts
// it, and answers for it.
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
const PACKAGE = '@tailcallhq/core-linux-x64-gnu'
const binary = path(`../peers/node_modules/${PACKAGE}/bin/tailcall`)
const libraries = path('../peers/libc/root/usr/lib/x86_64-linux-gnu')
const command = existsSync(libraries)
  ? [join(libraries, 'ld-linux-x86-64.so.2'), '--library-path', libraries, binary]
  : [binary]

const { BENCH_GRPC_URL: grpc, BENCH_REST_URL: rest } = process.env

function queryFields(): string {
  if (grpc) {
    const by = (method: string, body: string): string =>
      `@grpc(url: "http://${grpc}", method: "bench.v1.CatalogService.${method}", body: ${body})`
    return `product(id: String!): Product ${by('GetProduct', '{ id: "{{.args.id}}" }')}
      products(limit: Int): ProductList ${by('ListProducts', '{ limit: "{{.args.limit}}" }')}`
  }
  if (rest)
    return `product(id: String!): Product @http(url: "${rest}/products/{{.args.id}}")
      products(limit: Int): ProductList
        @http(url: "${rest}/products", query: [{ key: "limit", value: "{{.args.limit}}" }])`
  return 'hello: String @expr(body: "world")'
}

// Tailcall takes 0, but does not say which port it became.
const port = await freePort()
const types =
  grpc || rest
    ? `type Product {
        id: String name: String description: String brand: String price: Float stock: Int active: Boolean
        rating: Float reviews: Int updated: String
      }
      type ProductList { items: [Product!] }`
    : ''
const folder = await mkdtemp(join(tmpdir(), 'vinyasa-bench-tailcall-'))
const config = join(folder, 'config.graphql')
await writeFile(
  config,
  `schema
    @server(port: ${port}, hostname: "127.0.0.1")
    ${grpc ? `@link(id: "catalog", src: "${path('catalog.proto')}", type: Protobuf)` : ''} { query: Query }
  ${types}
  type Query { ${queryFields()} }`,
)

// It ends when this program does, however that ends.
const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...command, 'start', config], {
  env: { ...process.env, TC_TRACKER: 'false', TAILCALL_LOG_LEVEL: 'error' },
  stdio: ['ignore', 'ignore', 'inherit'],
})
child.once('exit', (code) => process.exit(code ?? 1))

const url = `http://127.0.0.1:${port}`
const isUp = (): Promise<boolean> =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ __typename }"}',
  }).then(
    ({ ok }) => ok,
    () => false,
  )
while (!(await isUp())) await new Promise((resolve) => setTimeout(resolve, 50))
await rm(folder, { recursive: true, force: true })

announceProgram(url, { [PACKAGE]: versionOf(PACKAGE, new URL('../peers/x', import.meta.url).href) }, () => {
  const { cpuMs, rssBytes } = usageOf(child.pid as number)
  return { cpuMicros: cpuMs * 1000, rssBytes }
})

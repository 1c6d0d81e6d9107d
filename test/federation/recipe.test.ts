import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeBlocks, startRestBackend, type CodeBlock } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../apps/gateway/src/config/file/load-config.ts'
import type { GatewayConfig } from '../../apps/gateway/src/config/types.ts'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'
import { serve } from '../../apps/gateway/src/server.ts'
import { compose, startApollo, startHive, type Subgraph } from './routers.ts'

const blocksOf = (page: string): CodeBlock[] =>
  codeBlocks(readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), 'utf8'))

async function start(name: string, config: GatewayConfig, baseDirectory: string): Promise<Subgraph> {
  const logger = await createLogger({ level: 'silent' })
  const server = await serve(await createGateway(config, { baseDirectory, logger }), { port: 0 })
  onTestFinished(() => server.close({ graceMs: 100 }))
  return { name, url: `${server.url}/graphql` }
}

/** The recipe's gateway, before the API of the first page. */
async function startShop(): Promise<Subgraph> {
  const product = { id: '2', name: 'Table', price: 180 }
  const api = await startRestBackend(({ url }) => ({
    json: url.pathname === '/products' ? [product] : product,
  }))
  onTestFinished(() => api.stop())
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-federation-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const { file, code } of blocksOf('start-here.md'))
    if (file === 'shop.yaml' || file === 'users.proto')
      writeFileSync(join(folder, file), code.replace('http://localhost:4010', api.url))
  const recipe = blocksOf('recipes/federation.md').find(({ language }) => language === 'yaml')
  const sources = `rest: { shop: { openapi: shop.yaml } }
grpc: { users: { endpoint: 'localhost:1', protoFiles: [users.proto], expose: all } }
`
  writeFileSync(join(folder, 'gateway.config.yaml'), `${sources}${recipe?.code}`)
  const { config } = await loadConfig({ directory: folder, environment: {} })
  return start('shop', config, folder)
}

/** The page's other subgraph, which extends a type by its key. */
async function startReviews(): Promise<Subgraph> {
  const sdl = blocksOf('recipes/federation.md').find(({ code }) => code.includes('type Review'))
  const typeDefs = (sdl?.code ?? '').replace(/^extend schema.*$/m, '')
  const review = { text: 'sturdy', product: { id: '2' } }
  const resolvers = { Query: { reviews: () => [review] }, Product: { reviews: () => [review] } }
  return start('reviews', { typeDefs, resolvers, federation: true }, tmpdir())
}

it.each([
  ['Apollo', startApollo],
  ['Hive', startHive],
])('the subgraphs of the recipe answer together behind the router of %s', async (_, startRouter) => {
  const router = await startRouter(await compose([await startShop(), await startReviews()]))
  onTestFinished(() => router.stop())
  const answer = await router.ask(
    '{ getProduct(id: "2") { name reviews { text } } reviews { product { name price } } }',
  )
  expect(answer.errors).toBeUndefined()
  expect(answer.data).toEqual({
    getProduct: { name: 'Table', reviews: [{ text: 'sturdy' }] },
    reviews: [{ product: { name: 'Table', price: 180 } }],
  })
})

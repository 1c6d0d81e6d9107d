// Hive Gateway with the query planner of its router, in Rust, before subgraphs of federation.
import { createGatewayRuntime } from '@graphql-hive/gateway'
import { unifiedGraphHandler } from '@graphql-hive/router-runtime'
import { composeServices } from '@theguild/federation-composition'
import { parse } from 'graphql'
import { serveProgram } from './serve-program.mjs'

async function subgraph(name) {
  const url = `${process.env.BENCH_SUBGRAPHS_URL}/${name}`
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ query: '{ _service { sdl } }' }),
  })
  const { data } = await response.json()
  return { name, url, typeDefs: parse(data._service.sdl) }
}

const names = ['users', 'products', 'reviews', 'inventory']
const { supergraphSdl, errors } = composeServices(await Promise.all(names.map(subgraph)))
if (!supergraphSdl) throw new Error(errors.map(({ message }) => message).join('\n'))
const planned = process.env.BENCH_PLANNER === 'rust'
const gateway = createGatewayRuntime({
  supergraph: supergraphSdl,
  logging: false,
  ...(planned && { unifiedGraphHandler }),
})
serveProgram(gateway, [
  '@graphql-hive/gateway',
  ...(planned ? ['@graphql-hive/router-runtime', '@graphql-hive/router-query-planner'] : []),
  'graphql',
])

import { readdirSync, readFileSync } from 'node:fs'
import type * as grpcSource from '@vinyasa/grpc-source'
import { expect, it } from 'vitest'

const PACKAGE = new URL('../../packages/grpc-source/', import.meta.url)

it('what is built of grpc-source holds the protos of its folder, which nobody bundles', async () => {
  const read = (folder: string): string[] =>
    readdirSync(new URL(folder, PACKAGE), { recursive: true, encoding: 'utf8' })
  const paths = read('proto/').filter((path) => path.endsWith('.proto'))
  expect(paths.length).toBeGreaterThan(5)
  const scripts = read('dist/').filter((path) => path.endsWith('.js'))
  for (const script of scripts)
    expect(readFileSync(new URL(`dist/${script}`, PACKAGE), 'utf8')).not.toContain('readdirSync')
  const built: unknown = await import(new URL('dist/index.js', PACKAGE).href)
  const { createGrpcSource } = built as typeof grpcSource
  const source = await createGrpcSource({
    name: 'a',
    endpoint: 'x:1',
    expose: 'all',
    protoText: {
      'a.proto': `syntax = "proto3"; ${paths.map((path) => `import "${path}";`).join(' ')}
        message M { string id = 1; } service S { rpc GetM(M) returns (M); }`,
    },
  })
  await source.close()
})

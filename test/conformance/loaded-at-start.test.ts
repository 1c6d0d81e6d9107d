import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../apps/gateway/src', import.meta.url))

/** What `vinyasa start` loads whatever its config says; the rest of what commands load comes by `import()`. */
const ENTRIES = ['main.ts', 'commands/start.ts', 'commands/run-gateway.ts', 'gateway.ts']

/** What is loaded where a config asks for it. */
const ASKED_FOR = [
  '@vinyasa/grpc-source',
  '@vinyasa/rest-connector',
  '@graphql-inspector/core',
  '@nats-io/transport-node',
  '@opentelemetry/api',
  '@opentelemetry/core',
  'chokidar',
  'ioredis',
  'jiti',
  'jose',
  'pino-pretty',
  'prom-client',
  'yaml',
]

const STATEMENT = /^(?:import|export) (?!type )(?:[^'"`;]*? from )?'([^']+)'/gm

/** Packages that files import without waiting for anything, and the file that does so. */
function packagesOf(entries: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const files = new Set(entries)
  for (const file of files) {
    for (const [, specifier = ''] of readFileSync(join(root, file), 'utf8').matchAll(STATEMENT)) {
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier))
      else if (!found.has(specifier)) found.set(specifier, file)
    }
  }
  return found
}

it('a start loads what its config asks for', () => {
  const found = packagesOf(ENTRIES)
  expect(found.size).toBeGreaterThan(15)
  expect(
    ASKED_FOR.flatMap((name) => (found.has(name) ? [`${found.get(name)} imports ${name}`] : [])),
  ).toEqual([])
})

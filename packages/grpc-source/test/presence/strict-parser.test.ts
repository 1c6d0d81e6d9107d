import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  create,
  createFileRegistry,
  equals,
  fromBinary,
  toBinary,
  type FileRegistry,
} from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { afterAll, describe, expect, it } from 'vitest'
import { startBytesServer } from '../bytes-server.ts'
import { disposables, source } from '../harness.ts'
import { createRandom } from '../plans/random.ts'
import {
  randomRequest,
  randomRequestProto,
  SYNTAXES,
  type RequestProto,
  type Syntax,
} from './random-requests.ts'

// PRESENCE: how many requests in all; SEED: of which chance.
const requests = Number(process.env['PRESENCE'] ?? 400)
const seed = Number(process.env['SEED'] ?? 1)
const PER_PROTO = 40

const folder = mkdtempSync(join(tmpdir(), 'vinyasa-presence-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Given {
  readonly syntax: Syntax
  readonly packageName: string
  readonly proto: RequestProto
}

/** The descriptors as buf reads them, not as the source does. */
function compile(given: readonly Given[]): FileRegistry {
  for (const { packageName, proto } of given) writeFileSync(join(folder, `${packageName}.proto`), proto.text)
  const out = join(folder, 'set.binpb')
  const buf = join(createRequire(import.meta.url).resolve('@bufbuild/buf/package.json'), '..', 'bin', 'buf')
  execFileSync(process.execPath, [buf, 'build', folder, '-o', out, '--config', '{"version":"v2"}'], {
    stdio: 'pipe',
  })
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(out)))
}

describe('any request is one to a strict parser', () => {
  it(
    `${requests} of proto2, proto3 and editions, with zeros of every presence`,
    { timeout: 600_000 },
    async () => {
      const random = createRandom(seed)
      const given = Array.from({ length: Math.ceil(requests / PER_PROTO) }, (_, index): Given => {
        const syntax = SYNTAXES[index % SYNTAXES.length] as Syntax
        const packageName = `p${index}`
        return { syntax, packageName, proto: randomRequestProto(random, syntax, packageName) }
      })
      const registry = compile(given)
      const differences: unknown[] = []
      let seen = 0
      for (const { syntax, packageName, proto } of given) {
        const message = registry.getMessage(`${packageName}.M0`)
        if (!message) throw new Error(`${packageName} has no M0`)
        const server = disposables().use(
          await startBytesServer(`/${packageName}.S/Get`, () => new Uint8Array()),
        )
        const opened = await source({
          endpoint: server.address,
          protoText: { 'p.proto': proto.text },
          expose: 'all',
        })
        for (let index = 0; index < PER_PROTO; index++) {
          const { args, init } = randomRequest(random, proto, syntax)
          await opened.call(`${packageName}.S.Get`, args)
          const sent = server.requests.at(-1) as Uint8Array
          seen++
          try {
            const parsed = fromBinary(message, sent)
            // It refuses a message without its required fields where it writes one.
            toBinary(message, parsed)
            if (!equals(message, parsed, create(message, init), { unknown: true, registry }))
              throw new Error('it is another one')
          } catch (error) {
            differences.push([syntax, String(error), args, Buffer.from(sent).toString('hex')])
          }
        }
      }
      const shortest = differences.toSorted((a, b) => JSON.stringify(a).length - JSON.stringify(b).length)
      expect([differences.length, shortest[0]]).toEqual([0, undefined])
      expect(seen).toBe(given.length * PER_PROTO)
    },
  )
})

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const app = fileURLToPath(new URL('..', import.meta.url))

function filesUnder(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

it('the generated code and descriptors are those of the protos (else: pnpm run generate)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'demo-users-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const bin = join(app, 'node_modules', '.bin')
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` }
  execFileSync('buf', ['generate', '--output', folder], { cwd: app, env })
  execFileSync('buf', ['build', '--as-file-descriptor-set', '-o', join(folder, 'x.binpb')], { cwd: app, env })

  const fresh = filesUnder(join(folder, 'src/gen'))
  expect(Object.keys(fresh)).toContain('demo/users/v1/users.ts')
  expect(filesUnder(join(app, 'src/gen'))).toEqual(fresh)
  expect(readFileSync(join(app, 'descriptors.binpb')).equals(readFileSync(join(folder, 'x.binpb')))).toBe(
    true,
  )
})

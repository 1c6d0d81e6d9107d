import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder outside the workspace, with everything installed. */
    readonly installed: string
  }
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (file: string): any => JSON.parse(readFileSync(file, 'utf8'))

/**
 * Packs every package and installs the tarballs by npm into a folder outside the workspace, with the runtimes and the
 * examples beside them. `RUNTIMES_FOLDER` names a folder that stays for the next time.
 */
export default function setup(project: TestProject): () => void {
  const kept = process.env['RUNTIMES_FOLDER']
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'vinyasa-runtimes-'))
  const tarballs = join(folder, 'tarballs')
  rmSync(tarballs, { recursive: true, force: true })
  mkdirSync(tarballs, { recursive: true })
  const npm = (...args: string[]): unknown =>
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })

  const pnpm = [
    '-y',
    'pnpm@10.34.9',
    '-r',
    '--filter',
    './packages/*',
    'pack',
    '--pack-destination',
    tarballs,
  ]
  execFileSync('npx', pnpm, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  const packed: Record<string, string> = {}
  for (const name of readdirSync(join(root, 'packages'))) {
    const { name: id, version } = read(join(root, 'packages', name, 'package.json'))
    packed[id] = `file:tarballs/${id.slice(1).replace('/', '-')}-${version}.tgz`
  }
  const manifest = read(join(root, 'test/runtimes/package.json'))
  const dependencies = { ...manifest.dependencies, ...packed }
  const overrides = Object.fromEntries(Object.keys(packed).map((id) => [id, `$${id}`]))
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ ...manifest, workspaces: ['examples/*'], dependencies, overrides }),
  )
  // A tarball that is another under the same name would be taken for the one installed before.
  rmSync(join(folder, 'node_modules/@vinyasa'), { recursive: true, force: true })
  rmSync(join(folder, 'package-lock.json'), { force: true })
  npm('install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error')
  project.provide('installed', folder)
  return () => {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { startRegistry } from './registry.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the registry with the packages. */
    readonly registry: string
    /** The folder with package managers and versions of Node. */
    readonly tools: string
    readonly published: readonly string[]
  }
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

/** Packs every package and publishes it to a registry on this machine. `INSTALL_FOLDER` keeps the tools for the next time. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kept = process.env['INSTALL_FOLDER']
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'vinyasa-install-'))
  const tarballs = join(folder, 'tarballs')
  rmSync(tarballs, { recursive: true, force: true })
  mkdirSync(tarballs, { recursive: true })
  writeFileSync(join(folder, 'package.json'), readFileSync(join(root, 'test/install/package.json')))
  const npm = (...args: string[]): Promise<unknown> => run('npm', args, { cwd: folder })
  await npm('install', '--no-audit', '--no-fund', '--loglevel=error')
  const filters = ['--filter', './packages/*', '--filter', '@vinyasa/gateway']
  const pack = ['-y', 'pnpm@10.34.9', '-r', ...filters, 'pack', '--pack-destination', tarballs]
  await run('npx', pack, { cwd: root })

  const registry = await startRegistry()
  const address = new URL(registry.url).host
  writeFileSync(join(folder, '.npmrc'), `//${address}/:_authToken=nobody-asks\n`)
  for (const tarball of readdirSync(tarballs))
    await npm('publish', `./tarballs/${tarball}`, '--registry', registry.url, '--access', 'public')
  project.provide('registry', registry.url)
  project.provide('tools', folder)
  project.provide('published', registry.names)
  return async () => {
    await registry.close()
    if (kept === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

import { existsSync, readFileSync, realpathSync } from 'node:fs'
import nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Jiti } from 'jiti'
import { ConfigError } from '../../errors.ts'

/**
 * Packages that a config may import wherever it lies, as they are the gateway's own: two copies of graphql in
 * one process do not know each other's errors and types.
 */
const OWN = ['@vinyasa/gateway', 'graphql', 'graphql-yoga'] as const

/** Paths for the names of the gateway's own packages. */
export function ownPackages(jiti: Jiti): Readonly<Record<string, string>> {
  const pathOf = (name: string): string => fileURLToPath(jiti.esmResolve(name, import.meta.url))
  const entries = OWN.map((name) => [name, pathOf(name)] as const)
  // Parts of graphql are imported too, such as `graphql/utilities`, so its name stands for a folder.
  return Object.fromEntries(entries.map(([name, path]) => [name, name === 'graphql' ? dirname(path) : path]))
}

/** Throws {@link ConfigError} for a package of a config that brings another graphql than the gateway's. */
export function refuseOtherGraphql(specifier: string, importer: string): void {
  const name = nameOf(specifier)
  if (OWN.some((own) => own === name)) return
  const folder = folderOf(name, importer)
  if (folder === undefined) return
  const { dependencies = {}, peerDependencies = {} } = manifestOf(folder)
  if (!('graphql' in { ...dependencies, ...peerDependencies })) return
  const theirs = folderOf('graphql', join(folder, 'package.json'))
  const ours = folderOf('graphql', fileURLToPath(import.meta.url))
  if (theirs === undefined || ours === undefined || theirs === ours) return
  const [their, our] = [manifestOf(theirs).version, manifestOf(ours).version]
  throw new ConfigError(
    `${name} uses graphql ${their} from ${theirs}, but the gateway uses graphql ${our} from ${ours}; both must use the same copy of graphql; ` +
      `install @vinyasa/gateway and graphql@${our} in the same node_modules folder as ${name}`,
  )
}

/** Throws {@link ConfigError} where the gateway's own packages were installed with several copies of graphql. */
export function refuseSecondGraphql(): void {
  const here = fileURLToPath(import.meta.url)
  const own = ownFolder(dirname(here))
  for (const name of Object.keys((own && manifestOf(own).dependencies) ?? {})) refuseOtherGraphql(name, here)
}

/** The folder of the gateway's package, in its sources and where it is one file. */
function ownFolder(folder: string): string | undefined {
  if (existsSync(join(folder, 'package.json'))) return folder
  return folder === dirname(folder) ? undefined : ownFolder(dirname(folder))
}

interface Manifest {
  readonly version?: string
  readonly dependencies?: object
  readonly peerDependencies?: object
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** Returns the folder where a package is installed for a file; its exports may hide its package.json. */
function folderOf(name: string, importer: string): string | undefined {
  const places = nodeModule.createRequire(importer).resolve.paths(name) ?? []
  const folder = places
    .map((place) => join(place, name))
    .find((candidate) => existsSync(join(candidate, 'package.json')))
  // A package finds what it imports beside its real folder, not beside a link to it.
  return folder === undefined ? undefined : realpathSync(folder)
}

function nameOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

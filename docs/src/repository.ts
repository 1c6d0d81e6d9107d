import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** URL of the public repository. */
export const REPOSITORY_URL = 'https://github.com/vinyasa-graphql/vinyasa'

export const root: string = fileURLToPath(new URL('../..', import.meta.url))

/** Plugins and sources with a page in the documentation, in the order of the menu. */
export const PLUGINS: readonly string[] = [
  'grpc-source',
  'rest-connector',
  'live-query',
  'defer-splitter',
  'response-cache',
  'node-handler',
  'invalidation',
]

/** Packages for authors of custom sources and transports. */
export const INTEGRATION: readonly string[] = ['source-kit', 'grpc-transport']

export interface Entry {
  /** Import specifier, such as `@vinyasa/live-query/ws`. */
  readonly specifier: string
  /** Path of the source file, relative to the root of the repository. */
  readonly source: string
}

export interface PublicPackage {
  readonly name: string
  readonly folder: string
  readonly description: string
  readonly entries: readonly Entry[]
}

/** Returns the published packages and their exports. */
export function publicPackages(): PublicPackage[] {
  const folders = [...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`), 'apps/gateway']
  return folders.flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
      readonly name: string
      readonly description: string
      readonly private?: boolean
      readonly exports: Readonly<Record<string, unknown>>
    }
    const { name, description, exports } = manifest
    const entries = Object.entries(exports).flatMap(([key, target]) => {
      const source = (target as { readonly '@vinyasa/source'?: string })['@vinyasa/source']
      return source === undefined
        ? []
        : [{ specifier: posix.join(name, key), source: posix.join(folder, source) }]
    })
    return manifest.private === true ? [] : [{ name, folder, description, entries }]
  })
}

/**
 * Converts a link in a file of `folder` to a link of the site. Files without a page link to the public repository.
 * Throws if the file does not exist.
 */
export function siteLink(href: string, folder: string): string {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href
  const [, path = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? []
  const target = posix.normalize(posix.join(folder, path)).replace(/\/$/, '')
  const file = join(root, target)
  if (!existsSync(file)) throw new Error(`${folder}: the link ${href} leads to ${target}, which is not there`)
  const [, plugin = ''] = /^packages\/([\w-]+)(?:\/README\.md)?$/.exec(target) ?? []
  if (PLUGINS.includes(plugin) || INTEGRATION.includes(plugin))
    return `/plugins/${plugin}${anchor === '#readme' ? '' : anchor}`
  if (target === 'apps/gateway' || target === 'apps/gateway/README.md')
    return `/gateway/${anchor === '#readme' ? '' : anchor}`
  if (target.startsWith('docs/')) return `/${target.slice(5).replace(/(?:README|index)?\.md$/, '')}${anchor}`
  const kind = statSync(file).isDirectory() ? 'tree' : 'blob'
  return `${REPOSITORY_URL}/${kind}/main/${target}${anchor}`
}

/** Returns a README as a page of the site. */
export function readmePage(folder: string): string {
  const text = readFileSync(join(root, folder, 'README.md'), 'utf8')
  return text.replace(/\]\(([^)\s]+)\)/g, (_, href: string) => `](${siteLink(href, folder)})`)
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { definitionOf } from '../../apps/gateway/src/config/definition.ts'
import { gatewayConfig } from '../../apps/gateway/src/config/schema.ts'
import { apiSources, readApiPages } from '../../docs/src/api-reference.ts'
import { deadLinks } from '../../docs/src/check-links.ts'
import {
  CONFIG_TYPES,
  configReference,
  firstOfEqual,
  readConfigSections,
} from '../../docs/src/config-reference.ts'
import { readTypes } from '../../docs/src/types-of.ts'

const types = readTypes([CONFIG_TYPES, ...apiSources()])
const sections = readConfigSections(types)

/** Returns the path of every setting in the validation schema. An object and a list of such objects have the same path. */
function settingsOf(schema: unknown, path = '', above: readonly string[] = []): string[] {
  const { shape, valueType, element, options = [] } = definitionOf(schema) ?? {}
  if (shape && above.includes(namesOf(shape))) return []
  const within = shape ? [...above, namesOf(shape)] : above
  const told = new Set<string>()
  return [
    ...Object.entries(shape ?? {}).flatMap(([key, member]) => {
      const at = path === '' ? key : `${path}.${key}`
      return [at, ...settingsOf(member, at, within)]
    }),
    ...(valueType ? settingsOf(valueType, `${path}.*`, within) : []),
    ...(element ? settingsOf(element, `${path}[]`, within) : []),
    ...options.flatMap((option) => {
      const inner = definitionOf(definitionOf(option)?.element)?.shape ?? definitionOf(option)?.shape
      if (inner && told.has(namesOf(inner))) return []
      if (inner) told.add(namesOf(inner))
      return settingsOf(option, path, within)
    }),
  ]
}

/** Identifies a shape by its keys, because recursive schemas create a new shape on each access. */
function namesOf(shape: object): string {
  return Object.keys(shape).join()
}

describe('the config reference', () => {
  const documented = sections.flatMap(({ settings }) => settings)

  it('lists exactly the settings of the validation schema', () => {
    const known = [...new Set(settingsOf(gatewayConfig))].toSorted()
    expect(known.length).toBeGreaterThan(300)
    expect(documented.map(({ path }) => path).toSorted()).toEqual(known)
  })

  it('describes every setting', () => {
    expect(documented.filter(({ meaning }) => meaning.length < 4).map(({ path }) => path)).toEqual([])
  })

  it('separates defaults from the description', () => {
    const found = (path: string): object | undefined => documented.find((setting) => setting.path === path)
    expect(found('server.headersTimeoutMs')).toMatchObject({
      default: '10,000 ms',
      meaning: 'Maximum time for a client to send its headers. 0 means no limit.',
    })
    expect(found('graphql.limits.maxDepth')).toMatchObject({ default: '100; production 15' })
    expect(found('grpc.*.timeoutMs')).toMatchObject({ default: '15000' })
  })

  it('shows the types of values that have names', () => {
    const types = Object.fromEntries(documented.map(({ path, type }) => [path, type]))
    expect(types['grpc']).toBe('object by name')
    expect(types['rest.*.defaultHeaders']).toBe('(string | list of string) by name')
    expect(types['resolvers']).toBe('IResolvers')
    expect(documented.filter(({ type }) => /\b(Readonly|Partial|Pick)\b/.test(type))).toEqual([])
  })

  it('has one row for each setting, and one section for equal objects', () => {
    const page = configReference(sections)
    const told = [...new Set(firstOfEqual(sections).values())].flatMap(({ settings }) => settings)
    expect(page.match(/^\| (?:\[)?`\w/gm) ?? []).toHaveLength(told.length)
    expect(told.length).toBeLessThan(documented.length)
    expect(page.match(/^\| `volatility`/gm)).toHaveLength(1)
    expect(page).toContain('[`defaults`](#grpc-each-methods-each-livequery)')
  })
})

describe('the API reference', () => {
  const pages = readApiPages(types)

  it('has a page for each published package, with a heading for each export', () => {
    expect(pages.map(({ name }) => name)).toContain('grpc-source')
    for (const { markdown, exported } of pages) {
      const headings = [...markdown.matchAll(/^### (.+)$/gm)].map(([, name]) => name)
      expect(headings.toSorted()).toEqual(exported.map(({ name }) => name).toSorted())
    }
  })

  it('describes the types of settings, including types that are not exported', () => {
    const { markdown = '' } = pages.find(({ name }) => name === 'rest-connector') ?? {}
    expect(markdown).toContain('\n#### BreakerOptions\n')
    expect(markdown).not.toContain('#### RestEndpoint')
  })
})

it('finds links to missing pages and to missing anchors', () => {
  const site = mkdtempSync(join(tmpdir(), 'vinyasa-site-'))
  onTestFinished(() => rmSync(site, { recursive: true }))
  mkdirSync(join(site, 'guide'))
  const links = ['/', '/guide/', '/guide/#here', '../style.css', './more', 'https://example.com/', '#top']
  const dead = ['/away', './away', '/guide/#away', '#away', '/style']
  const page = [...links, ...dead].map((href) => `<a class="x" href="${href}">x</a>`).join('')
  writeFileSync(join(site, 'index.html'), '<p>home</p>')
  writeFileSync(join(site, 'style.css'), '')
  writeFileSync(join(site, 'guide/more.html'), '<p>more</p>')
  writeFileSync(join(site, 'guide/index.html'), `<h1 id="top">x</h1><h2 id="here">x</h2>${page}`)
  expect(deadLinks(site)).toEqual(dead.map((href) => `guide/index.html: ${href}`))
})

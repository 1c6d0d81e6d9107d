import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8')

const PAGE = 'ARCHITECTURE.md'
const page = read(PAGE)
/** The part of the page below a heading. */
const below = (heading: string): string => page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
const codeIn = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
/** Code that is a path from the root of the repository. */
const pathsIn = (text: string): string[] =>
  codeIn(text).filter((code) =>
    /^(?:packages|apps|test|docs)\/[^ ]*$|^(?:README|SECURITY|CONTRIBUTING)\.md$|\.mjs$/.test(code),
  )
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
    .slice(1)
    .map((line) => line.split('|').slice(1, -1))
const filesOf = (folder: string, pattern: RegExp): string[] =>
  readdirSync(`${root}/${folder}`)
    .map((name) => `${folder}/${name}`)
    .filter((path) => pattern.test(path))

describe('ARCHITECTURE.md', () => {
  it('has at most 150 lines, and 200 characters in a table row', () => {
    const lines = page.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(150)
    expect(lines.filter((line) => line.startsWith('|') && line.length > 200)).toEqual([])
  })

  it('names more than 40 paths', () => expect(pathsIn(page).length).toBeGreaterThan(40))

  it('names every package', () => {
    const packages = readdirSync(`${root}/packages`)
    const named = new Set(codeIn(page.split('\n## ')[0] ?? ''))
    expect(packages.filter((name) => !named.has(name))).toEqual([])
  })

  it('has eight steps, each with a path', () => {
    const steps = below('Steps of an operation').match(/^\d\. [\s\S]*?(?=^\d\. |(?![\s\S]))/gm) ?? []
    expect(steps).toHaveLength(8)
    expect(steps.filter((step) => pathsIn(step).length === 0)).toEqual([])
  })

  it('has six stages in the order of the plugins', () => {
    const stages = rowsOf(below('Plugin order')).map(([, there = '']) => codeIn(there)[0] ?? '')
    expect(stages).toHaveLength(6)
    const [, plugins = ''] = read('apps/gateway/src/composition/plugins.ts').split('  return [\n')
    const places = stages.map((stage) => plugins.indexOf(stage))
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  it('names one file and one test for each decision', () => {
    const rows = rowsOf(below('Single places'))
    expect(rows.length).toBeGreaterThanOrEqual(6)
    const odd = rows.filter(([, place = '', test = '']) => {
      const [found, ...others] = pathsIn(place)
      return !found || others.length > 0 || pathsIn(test)[0]?.endsWith('.test.ts') !== true
    })
    expect(odd).toEqual([])
  })

  it('lists six common changes, each with files that end in a test', () => {
    const recipes = below('Common changes').split('\n- ').slice(1)
    expect(recipes).toHaveLength(6)
    expect(recipes.filter((recipe) => pathsIn(recipe).at(-1)?.endsWith('.test.ts') !== true)).toEqual([])
  })

  it('names only identifiers that exist in the named files', () => {
    // `path` (`name`, …): each name is in the file.
    const said = [...below('Common changes').matchAll(/`([\w./-]+\.ts)` \(([^)]*)\)/g)]
    const gone = said.flatMap(([, path = '', text = '']) =>
      codeIn(text).filter((name) => !read(path).includes(name)),
    )
    expect(said.length).toBeGreaterThan(4)
    expect(gone).toEqual([])
  })

  it('defines at most ten terms, each once', () => {
    const words = [...below('Terms').matchAll(/^- \*\*([\w ]+)\*\*: \w/gm)].map(([, word]) => word)
    expect(words.length).toBeGreaterThan(0)
    expect(words.length).toBeLessThanOrEqual(10)
    expect(new Set(words).size).toBe(words.length)
  })
})

it.each([
  PAGE,
  'CONTRIBUTING.md',
  'AGENTS.md',
  'SECURITY.md',
  'docs/security.md',
  ...filesOf('docs/decisions', /\.md$/),
])('%s names only paths that exist', (name) => {
  const text = read(name)
  const places = (path: string): string[] => [path, `packages/${path}`, `apps/${path}`]
  const sources = text.match(/[\w./-]+\/src\/[\w./-]*\w/g) ?? []
  const named = [...sources, ...pathsIn(text).filter((path) => !/[*{<…]/.test(path))]
  expect(named.filter((path) => !places(path).some((place) => existsSync(`${root}/${place}`)))).toEqual([])
})

/** Lines of the sources in a folder. */
function linesOf(folder: string): number {
  const files = readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
  const lines = files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => read(`${folder}/${file}`).split('\n').length - 1)
  return lines.reduce((sum, count) => sum + count, 0)
}

it('the lines that a decision counts are there, within a tenth', () => {
  const counted = filesOf('docs/decisions', /\.md$/).flatMap((path) =>
    [...read(path).matchAll(/([\d,]+) lines[^(.]*\(`([^`]+)`\)/g)].map(([, said = '', folder = '']) => ({
      path,
      said: Number(said.replaceAll(',', '')),
      is: linesOf(folder),
    })),
  )
  expect(counted.length).toBeGreaterThan(4)
  expect(counted.filter(({ said, is }) => Math.abs(said / is - 1) > 0.1)).toEqual([])
})

it('each runtime dependency has its reason', () => {
  const heads = read('docs/decisions/dependencies.md').match(/^- [^(:]*/gm) ?? []
  const reasons = new Set(heads.flatMap(codeIn))
  const peers = new Set(['graphql', 'graphql-yoga', '@envelop/core'])
  const manifests = ['packages', 'apps'].flatMap((folder) => filesOf(folder, /./))
  const used = manifests.flatMap((folder) => {
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(read(`${folder}/package.json`)) as Record<
      'dependencies' | 'peerDependencies',
      Record<string, string> | undefined
    >
    return Object.keys({ ...dependencies, ...peerDependencies })
  })
  const foreign = [...new Set(used)].filter((name) => !name.startsWith('@vinyasa/') && !peers.has(name))
  expect(foreign.length).toBeGreaterThan(20)
  expect(foreign.filter((name) => !reasons.has(name))).toEqual([])
  expect([...reasons].filter((name) => !foreign.includes(name))).toEqual([])
})

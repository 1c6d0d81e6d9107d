import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { publicPackages, REPOSITORY_URL, root } from '../../docs/src/repository.ts'

const { couldNotAsk, offlineFaults } = (await import(`${root}scripts/audit.mjs`)) as {
  couldNotAsk(output: string): boolean
  offlineFaults(tree: readonly string[], list: object, now: number): readonly string[]
}

const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8')

describe.each(publicPackages().map(({ name, folder }) => ({ name, folder })))('$name', ({ name, folder }) => {
  const manifest = JSON.parse(read(`${folder}/package.json`))

  it('says where it comes from, and on what it runs', () => {
    expect(manifest).toMatchObject({
      license: 'MIT',
      type: 'module',
      engines: { node: '>=20.19.0' },
      repository: { type: 'git', url: `git+${REPOSITORY_URL}.git`, directory: folder },
      homepage: `${REPOSITORY_URL}/tree/main/${folder}#readme`,
      bugs: `${REPOSITORY_URL}/issues`,
      publishConfig: { access: 'public' },
    })
    expect(manifest.keywords.length).toBeGreaterThan(1)
    expect(manifest.description).toMatch(/^\S.{20,}[^.]$/)
    expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'src']))
  })

  it('has a README that begins with its name', () => {
    expect(read(`${folder}/README.md`)).toMatch(new RegExp(`^# ${name}\n`))
  })
})

it('changesets name packages that are published', () => {
  const names = new Set(publicPackages().map(({ name }) => name))
  const wrong = readdirSync(`${root}.changeset`).filter((file) => {
    const [, head] = /^---\n(.*?)\n---/s.exec(read(`.changeset/${file}`)) ?? []
    return (
      file.endsWith('.md') &&
      Object.keys((parse(head ?? '{}') ?? {}) as object).some((name) => !names.has(name))
    )
  })
  expect(wrong).toEqual([])
})

it('an audit that could not ask goes by the list: versions that nobody looked up fail, and lists that are old', () => {
  const list = {
    lookedUpOn: '2026-01-01',
    packages: ['a@1.2.3', '@b/c@2.0.0', 'd@1.0.0'],
    advisories: [{ id: 'CVE-1', package: 'd', mendedIn: '1.0.1' }],
  }
  const day = (text: string): number => Date.parse(text)
  expect(offlineFaults(['a@1.2.3', '@b/c@2.0.0'], list, day('2026-03-01'))).toEqual([])
  expect(offlineFaults(['a@1.2.4'], list, day('2026-03-01'))).toEqual([
    'a@1.2.4 came since the list was written',
  ])
  expect(offlineFaults(['d@1.0.0'], list, day('2026-03-01'))).toEqual(['d@1.0.0: CVE-1, mended in 1.0.1'])
  expect(offlineFaults([], list, day('2026-06-01'))).toEqual(['the list is 151 days old, 90 are allowed'])
  expect(couldNotAsk(' ERR_PNPM_AUDIT_BAD_RESPONSE  The audit endpoint responded with 405')).toBe(true)
  expect(couldNotAsk('2 vulnerabilities found')).toBe(false)
})

it('the workflow runs scripts that there are', () => {
  const workflow = read('.github/workflows/release.yaml')
  const { jobs } = parse(workflow) as { readonly jobs: { readonly release: any } }
  expect(jobs.release.permissions['id-token']).toBe('write')
  // No token of the registry, and no action that somebody else may change.
  expect(workflow).not.toMatch(/secrets\./)
  for (const [, action = ''] of workflow.matchAll(/uses: (\S+)/g)) expect(action).toMatch(/@[0-9a-f]{40}$/)
  const { scripts } = JSON.parse(read('package.json'))
  for (const [, name = ''] of workflow.matchAll(/pnpm@[\d.]+ run (\w+)/g))
    expect(scripts).toHaveProperty(name)
})

it('the README links to pages that there are, and to headings that they have', () => {
  const links = [...read('README.md').matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, link = '']) => link)
  expect(links.length).toBeGreaterThan(25)
  expect(links.filter((link) => !leadsSomewhere(link))).toEqual([])
  expect(leadsSomewhere('docs/recipes/none.md')).toBe(false)
  expect(leadsSomewhere('apps/gateway#no-such-heading')).toBe(false)
})

const comparisons = [
  { page: 'README.md', heading: 'Compared with other gateways', least: 9 },
  { page: 'docs/comparison.md', heading: 'Features', least: 20 },
]
const tableOf = ({ page, heading }: (typeof comparisons)[number]): string[] => {
  const [, text = ''] = new RegExp(`## ${heading}\\n(.*)`, 's').exec(read(page)) ?? []
  const [table = ''] = text.split(/\n## /)
  return table.split('\n').filter((line) => line.startsWith('| '))
}

it.each(comparisons)('each row of the comparison in $page links to a page of ours', (comparison) => {
  const rows = tableOf(comparison)
  expect(rows.length).toBeGreaterThan(comparison.least)
  const withoutLink = rows.slice(1).filter((row) => {
    const [, name = '', ours = ''] = row.split('|')
    return !/^ (-+|licence) *$/.test(name) && !ours.includes('](')
  })
  expect(withoutLink).toEqual([])
})

it.each(comparisons)('the comparison in $page names the versions that the benchmarks use', (comparison) => {
  const [heads] = tableOf(comparison)
  const { dependencies, optionalDependencies } = JSON.parse(read('test/bench/peers/package.json'))
  const inBenchmarks = {
    'Hive Gateway': dependencies['@graphql-hive/gateway'],
    Tailcall: optionalDependencies['@tailcallhq/core-linux-x64-gnu'],
  }
  for (const [name, version] of Object.entries<string>(inBenchmarks))
    expect(heads).toContain(`${name} ${version.split('.').slice(0, 2).join('.')} `)
})

/** Whether a path of the repository is there, and what stands behind `#` is a heading of it, as GitHub names them. */
function leadsSomewhere(link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const at = `${root}${path}`
  if (!existsSync(at)) return false
  if (anchor === undefined || anchor === 'readme') return true
  const text = readFileSync(at.endsWith('.md') ? at : `${at}/README.md`, 'utf8')
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
  return headings.includes(anchor)
}

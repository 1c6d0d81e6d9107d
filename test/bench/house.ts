// The house in figures: lines, files, public names, settings, comments without a subject, circles between files, the fullest
// folders, the longest functions, and how many functions of the packages run for one known request, without and with cached
// documents, and for one update of a live query.
// `pnpm bench:house [--repo ../other-checkout] [--list]`
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findCircles, importsUnder, sourceFilesUnder } from '@vinyasa/test-kit'
import { functionExtents } from '@vinyasa/test-kit/function-extents'
import { CONFIG_TYPES, readConfigSections } from '../../docs/src/config-reference.ts'
import { readTypes } from '../../docs/src/types-of.ts'
import { commentsWithoutSubject } from './src/comments.ts'
import { codeThatRuns, type Probe } from './src/code-that-runs.ts'
import { settingsOf } from './src/settings.ts'

const { values } = parseArgs({
  options: { repo: { type: 'string' }, list: { type: 'boolean', default: false } },
})
const here = fileURLToPath(new URL('../..', import.meta.url))
const repo = values.repo === undefined ? here : resolve(values.repo)

const files = sourceFilesUnder(repo, 'packages')
const read = (file: string): string => readFileSync(join(repo, file), 'utf8')
const lines = files.reduce((sum, file) => sum + read(file).split('\n').length - 1, 0)
console.log(`packages: ${lines} lines in ${files.length} files`)

/** The files that `exports` of the packages name as their source. */
function entries(): string[] {
  const packages = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')))
  return [...packages].flatMap((folder) => {
    const manifest = JSON.parse(read(`${folder}/package.json`)) as {
      readonly exports: Readonly<Record<string, unknown>>
    }
    const sources = Object.values(manifest.exports).map((entry) =>
      typeof entry === 'object' && entry !== null && '@vinyasa/source' in entry
        ? entry['@vinyasa/source']
        : '',
    )
    return sources.filter(Boolean).map((source) => join(folder, String(source)))
  })
}

/** Names that an entry hands on, and those that it declares. */
function exportedNames(file: string): string[] {
  const text = read(file)
  const handedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
    names.split(',').flatMap((name) => name.trim().split(/\s+/).at(-1) || []),
  )
  const declared = [
    ...text.matchAll(/^export (?:declare )?(?:async )?(?:function|class|const|interface|type) (\w+)/gm),
  ].map(([, name = '']) => name)
  return [...handedOn, ...declared]
}

const names = entries().map((file) => ({ file, names: exportedNames(file) }))
console.log(`exported names: ${names.reduce((sum, entry) => sum + entry.names.length, 0)}`)
for (const entry of names) console.log(`  ${entry.names.length} ${entry.file}`)
const exportedAnywhere = files.reduce((sum, file) => sum + exportedNames(file).length, 0)
console.log(`names that any file exports: ${exportedAnywhere}`)

const types = readTypes([CONFIG_TYPES, ...entries()], repo)
const settings = new Map<string, string[]>()
for (const folder of new Set(entries().map((file) => file.split('/').slice(0, 2).join('/'))))
  settings.set(
    folder,
    settingsOf(
      types,
      entries().filter((file) => file.startsWith(`${folder}/`)),
    ),
  )
const configured = readConfigSections(types).flatMap(({ settings }) => settings.map(({ path }) => path))
settings.set('apps/gateway', configured)
console.log(`settings: ${[...settings.values()].flat().length}`)
for (const [folder, found] of settings) {
  console.log(`  ${found.length} ${folder}`)
  for (const setting of values.list ? found : []) console.log(`    ${setting}`)
}

const commented = files
  .map((file) => ({ file, comments: commentsWithoutSubject(read(file)) }))
  .toSorted((a, b) => b.comments.length - a.comments.length)
console.log(`comments without a subject: ${commented.flatMap(({ comments }) => comments).length}`)
for (const { file, comments } of commented.slice(0, values.list ? undefined : 20)) {
  if (comments.length > 0) console.log(`  ${comments.length} ${file}`)
  for (const comment of values.list ? comments : []) console.log(`    ${comment}`)
}

for (const folder of ['packages', 'apps']) {
  const circles = findCircles(importsUnder(repo, folder))
  console.log(`circles in ${folder}: ${circles.length}`)
  for (const circle of circles) console.log(`  ${circle.join(' ')}`)
}

const long = ['packages', 'apps']
  .flatMap((folder) => sourceFilesUnder(repo, folder))
  .flatMap((file) => functionExtents(read(file)).map((extent) => ({ ...extent, file })))
  .filter(({ lines }) => lines > 100)
  .toSorted((a, b) => b.lines - a.lines)
console.log(`functions of more than 100 lines, counted whole: ${long.length}`)
for (const { name, lines, file } of long) console.log(`  ${lines} ${name} ${file}`)

console.log('folders with more than 15 files:')
const sizes = new Map<string, number>()
for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1)
for (const [folder, size] of sizes) if (size > 15) console.log(`  ${size} ${folder}`)

const product = '{ product(id: "1") { id name description brand price stock active rating reviews updated } }'
const behindNodeHandler = { BENCH_DOOR: 'node-handler' }
/** As the gateway serves; an older checkout runs the probes above again. */
const onShortWay = { ...behindNodeHandler, BENCH_SHORT_WAY: '1' }
const probes: readonly (readonly [string, Probe])[] = [
  ['hello', { contender: 'hello-yoga', env: {}, query: '{ hello }' }],
  [
    'a known gRPC query',
    {
      contender: 'catalog-vinyasa',
      env: {},
      query: product,
      backend: { contender: 'catalog-grpc-backend', variable: 'BENCH_GRPC_URL' },
    },
  ],
  ['a cached hit', { contender: 'cache-yoga', env: { BENCH_CACHE: 'memory' }, query: '{ constant }' }],
  [
    'a REST call',
    {
      contender: 'catalog-vinyasa',
      env: {},
      query: product,
      backend: { contender: 'catalog-rest-backend', variable: 'BENCH_REST_URL' },
    },
  ],
]
const liveUpdate: Probe = {
  contender: 'live-vinyasa',
  env: {},
  query: 'query @live { feed { n } }',
  isLive: true,
}

async function printCodeThatRuns(name: string, probe: Probe): Promise<void> {
  const ran = await codeThatRuns(repo, probe)
  const functions = ran.reduce((sum, file) => sum + file.functions, 0)
  console.log(`own code that runs for ${name}: ${functions} functions in ${ran.length} files`)
  const sorted = ran.toSorted((a, b) => b.functions - a.functions)
  for (const { file, functions: count } of values.list ? sorted : []) console.log(`  ${count} ${file}`)
}

if (!existsSync(join(repo, 'node_modules'))) console.log('without dependencies nothing can be run')
else {
  for (const [door, env] of [
    ['without usePipeline', behindNodeHandler],
    ['with cached documents', onShortWay],
  ] as const)
    for (const [name, probe] of probes)
      await printCodeThatRuns(`${name}, ${door}`, { ...probe, env: { ...probe.env, ...env } })
  await printCodeThatRuns('a live update', liveUpdate)
}

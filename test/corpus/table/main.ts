import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openApiFiles } from '../openapi-files.ts'

/** What a reader says of one document. */
interface Reading {
  readonly operations: number
  /** Fields of HEAD, OPTIONS and TRACE. */
  readonly others: number
  readonly skipped?: readonly string[]
  readonly objects: number
  readonly inputs: number
  readonly enums: number
  readonly unions: number
  readonly errors: number
  /** Of CPU. */
  readonly seconds: number
  /** The most memory of the process. */
  readonly megabytes: number
}

interface Row {
  readonly api: string
  readonly operations: number
  readonly ours: Reading
  readonly mesh: Reading | undefined
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const RESULTS = fileURLToPath(new URL('../RESULTS.md', import.meta.url))
const BEGIN = '<!-- table -->'
const END = '<!-- end of the table -->'
const run = promisify(execFile)

function operationsIn(file: string): number {
  const { paths = {} } = JSON.parse(readFileSync(file, 'utf8')) as { paths?: Record<string, object> }
  return Object.values(paths).flatMap((item) => METHODS.filter((method) => method in item)).length
}

/** The best of two runs, as others use the machine too; undefined: the reader gave up. */
async function read(reader: string, file: string): Promise<Reading | undefined> {
  const script = fileURLToPath(new URL(reader, import.meta.url))
  const once = async (): Promise<Reading> => {
    const { stdout } = await run(process.execPath, [script, file], { maxBuffer: 1e8 })
    // Mesh's dependencies write to the same place.
    return JSON.parse(stdout.slice(stdout.lastIndexOf('{"operations"'))) as Reading
  }
  try {
    const [a, b] = [await once(), await once()]
    return a.seconds < b.seconds ? a : b
  } catch {
    return undefined
  }
}

function faultsOf({ api, operations, ours, mesh }: Row): readonly string[] {
  const faults = [
    ours.errors > 0 && `${ours.errors} errors of the schema`,
    ours.operations + (ours.skipped?.length ?? 0) < operations &&
      'operations are neither fields nor findings',
    mesh && ours.operations < mesh.operations && `fewer operations than Mesh's ${mesh.operations}`,
    mesh && ours.seconds > mesh.seconds && `slower than Mesh (${ours.seconds} s, ${mesh.seconds} s)`,
    api === 'GitHub' && ours.megabytes > 300 && `${ours.megabytes} MB; allowed are 300`,
  ]
  return faults.filter((fault) => typeof fault === 'string').map((fault) => `${api}: ${fault}`)
}

function toTable(rows: readonly Row[]): string {
  const cells = (of: (reading: Reading) => number, digits = 0) =>
    function* ({ ours, mesh }: Row): Iterable<string> {
      yield of(ours).toFixed(digits)
      yield mesh ? of(mesh).toFixed(digits) : '–'
    }
  const columns: readonly [string, (row: Row) => Iterable<string>][] = [
    ['imported', cells(({ operations }) => operations)],
    ['objects', cells(({ objects }) => objects)],
    ['inputs', cells(({ inputs }) => inputs)],
    ['enums', cells(({ enums }) => enums)],
    ['unions', cells(({ unions }) => unions)],
    ['CPU s', cells(({ seconds }) => seconds, 1)],
    ['MB', cells(({ megabytes }) => megabytes)],
  ]
  const head = ['API', 'operations', ...columns.flatMap(([name]) => [name, 'Mesh'])]
  const body = rows.map((row) => [row.api, `${row.operations}`, ...columns.flatMap(([, of]) => [...of(row)])])
  const widths = head.map((_, index) =>
    Math.max(...[head, ...body].map((line) => (line[index] ?? '').length)),
  )
  const line = (cell: readonly string[]): string =>
    `| ${cell.map((text, index) => (index === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[index] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  const skipped = rows.flatMap(({ api, ours }) =>
    (ours.skipped ?? []).map((message) => `- ${api}: ${message}`),
  )
  const left = skipped.length > 0 ? `\n\nLeft out:\n\n${skipped.join('\n')}` : '\n\nNothing is left out.'
  return [line(head), rule, ...body.map(line)].join('\n') + left
}

const rows: Row[] = []
for (const { api, file } of openApiFiles) {
  const ours = await read('read-ours.mjs', file)
  if (!ours) throw new Error(`${api}: we cannot read it`)
  const mesh = await read('../mesh/read-mesh.mjs', file)
  rows.push({ api, operations: operationsIn(file), ours, mesh })
  console.log(JSON.stringify(rows.at(-1)))
}
const table = toTable(rows)
console.log(table)
if (process.argv.includes('--write')) {
  const text = readFileSync(RESULTS, 'utf8')
  const before = text.slice(0, text.indexOf(BEGIN) + BEGIN.length)
  writeFileSync(RESULTS, `${before}\n\n${table}\n\n${text.slice(text.indexOf(END))}`)
}
const faults = rows.flatMap(faultsOf)
if (faults.length > 0) {
  console.error(faults.join('\n'))
  process.exitCode = 1
}

import { readFileSync } from 'node:fs'

/** Lowest and highest ratio over all machines, or the only ratio. */
type Ratio = readonly number[]
type Row = Readonly<Record<string, Ratio | undefined>>
interface Figures {
  readonly measured: string
  readonly plugins: Readonly<Record<string, Row & { readonly row: readonly string[] }>>
  readonly gateway: Readonly<Record<string, Row & { readonly row: string }>>
  readonly others: Readonly<Record<string, Row & { readonly row: string }>>
  readonly hits: Readonly<Record<string, Row & { readonly row: string }>>
}

const path = new URL('../../bench/figures.json', import.meta.url)
const figures = JSON.parse(readFileSync(path, 'utf8')) as Figures
const { plugins, gateway, others, hits } = figures
/** Dates of the runs. */
export const measured: string = figures.measured

/** Returns the range over several ratios: `0.08–0.67`, or `–` if none was measured. */
function range(ratios: readonly (Ratio | undefined)[], digits = 2): string {
  const all = ratios.flatMap((ratio) => ratio ?? [])
  if (all.length === 0) return '–'
  const [low, high] = [Math.min(...all), Math.max(...all)].map((one) => one.toFixed(digits))
  return low === high ? `${low}` : `${low}–${high}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const numbers = rows[0]?.map((cell) => (/^[\d.–]+$/.test(cell) ? '--:' : '---')) ?? []
  return [line(head), line(numbers), ...rows.map(line)].join('\n')
}

const pluginRow = (names: readonly string[], ...cells: readonly string[]): string[] => {
  const rows = names.map((name) => plugins[name])
  return [...cells, range(rows.map((row) => row?.['yoga'])), range(rows.map((row) => row?.['node-handler']))]
}

const gatewayRow = (names: readonly string[], ...cells: readonly string[]): string[] => [
  ...cells,
  range(names.map((name) => gateway[name]?.['all'])),
  ...['Mercurius', 'Hive', 'Tailcall'].map((other) => range(names.map((name) => others[name]?.[other]))),
]

const README = [
  table(
    ['plugin', 'replaces', 'work', 'on Yoga', 'with node-handler'],
    [
      pluginRow(
        ['hit-20', 'hit-200', 'hit-2000'],
        'response-cache',
        "Yoga's cache plugin",
        'hit, 20 to 2,000 rows',
      ),
      pluginRow(['grpc-1'], 'grpc-source', 'hand-written resolvers', '1 object'),
      pluginRow(['rest-1'], 'rest-connector', 'hand-written resolvers', '1 object'),
      pluginRow(['grpc-100', 'rest-100'], 'either source', 'hand-written resolvers', '100 objects'),
      pluginRow(['defer'], 'defer-splitter', "Yoga's defer plugin", 'deferred fragments'),
      pluginRow(['live-socket'], 'live-query', '`@envelop/live-query`', 'one WebSocket update'),
    ],
  ),
  table(
    ['work', 'baseline', 'Vinyasa', 'Mercurius + JIT', 'Hive Gateway', 'Tailcall'],
    [
      gatewayRow(['hello'], '`{ hello }`', 'Yoga'),
      gatewayRow(['grpc-1'], '1 gRPC object', 'hand-written, Yoga'),
      gatewayRow(['rest-1'], '1 REST object', 'hand-written, Yoga'),
      gatewayRow(['grpc-100', 'rest-100'], '100 gRPC or REST objects', 'hand-written, Yoga'),
      gatewayRow(
        ['join-grpc', 'join-rest', 'join-both'],
        '100 posts joined with 10 users',
        'Yoga with DataLoader',
      ),
      [
        'cached response',
        '`node:http`',
        range(
          Object.values(hits).map((row) => row['all']),
          1,
        ),
        '–',
        '–',
        '–',
      ],
    ],
  ),
]

const PERFORMANCE = [
  table(
    ['plugin', 'baseline', 'work', 'Yoga', 'node-handler'],
    Object.entries(plugins).map(([name, { row }]) => pluginRow([name], ...row)),
  ),
  table(
    ['work', 'Node 24', 'Node 20', 'independent run', 'all runs'],
    Object.values(gateway).map((row) => [
      row.row,
      ...['node 24', 'node 20', 'other', 'all'].map((one) => range([row[one]])),
    ]),
  ),
  table(
    ['work', 'Mercurius + JIT', 'Hive Gateway with Mesh', 'Tailcall'],
    Object.values(others).map((row) => [
      row.row,
      ...['Mercurius', 'Hive', 'Tailcall'].map((one) => range([row[one]])),
    ]),
  ),
  table(
    ['response', 'Node 24', 'Node 20', 'all runs'],
    Object.values(hits).map((row) => [
      row.row,
      range([row['node 24']]),
      range([row['node 20']]),
      range([row['all']], 1),
    ]),
  ),
]

/** Tables of each page with figures. All figures come from `test/bench/figures.json`. */
export const figureTables: Readonly<Record<string, readonly string[]>> = {
  'README.md': README,
  'docs/performance.md': PERFORMANCE,
}

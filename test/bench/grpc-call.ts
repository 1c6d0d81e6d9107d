// What one unary call costs, bytes in and bytes out: both transports beside bare node:http2.
// `pnpm bench:grpc-call [--smoke] [--write]`
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { median, type RunningProgram, spreadOf, startProgram, writeSection } from './src/index.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    calls: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { smoke, write } = values
const rounds = Number(values.rounds ?? (smoke ? 1 : 7))
const calls = values.calls ?? (smoke ? '500' : '10000')

const METHODS = [
  ['GetProduct', 'one object'],
  ['ListProducts', '100 objects'],
] as const
const CONTENDERS = ['grpc-js', 'http2', 'bare node:http2'] as const

const backend = await startProgram({
  name: 'backend',
  file: new URL('contenders/catalog-grpc-backend.ts', import.meta.url),
})
const sections: string[] = []
for (const [method, title] of METHODS) {
  const running: RunningProgram[] = []
  for (const name of CONTENDERS) {
    const env = {
      BENCH_GRPC_URL: backend.url,
      BENCH_METHOD: method,
      BENCH_TRANSPORT: name,
      BENCH_CALLS: calls,
    }
    running.push(await startProgram({ name, file: new URL('contenders/grpc-call.ts', import.meta.url), env }))
  }
  const costs = running.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, program] of running.entries()) {
      // Each asks for a batch of calls and answers with what one of them cost.
      costs[index]?.push((await program.usage()).cpuMicros)
    }
  }
  const rows = running.map(({ name }, index) => {
    const { median: middle, min, max } = spreadOf(costs[index] ?? [])
    const ratios = (costs[index] ?? []).map((cost, round) => cost / (costs[0]?.[round] ?? Number.NaN))
    return `| ${name} | ${middle.toFixed(0)} (${min.toFixed(0)}–${max.toFixed(0)}) | ${median(ratios).toFixed(2)} |`
  })
  sections.push(
    [`**${title}**`, '', '| | CPU µs a call | × grpc-js |', '| --- | --: | --: |', ...rows].join('\n'),
  )
  for (const program of running) await program.stop()
}
await backend.stop()

const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}`
const note = `${new Date().toISOString().slice(0, 10)}, ${machine}. Medians of ${rounds} interleaved rounds of ${calls} calls, 16 at a time (least–most); the ratio is taken within each round. \`pnpm bench:grpc-call\``
const text = `## One gRPC call\n\n${note}\n\n${sections.join('\n\n')}`
console.log(text)
if (write) await writeSection(new URL('RESULTS.md', import.meta.url), 'grpc-call', text)

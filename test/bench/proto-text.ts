import { createRequire } from 'node:module'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { parseFile } from '../../packages/grpc-source/src/descriptors/text/parse-file.ts'
import { spreadOf } from './src/index.ts'

// The reading of one .proto text, beside protobufjs, which the tests' kit has.
const { parse } = createRequire(new URL('../kit/package.json', import.meta.url))('protobufjs') as {
  parse(text: string, options: object): unknown
}
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } })
const TEXTS_A_ROUND = 20

/** A service as APIs have them: comments, numbers, options, maps and oneofs. */
function resource(name: string): string {
  return `
// A ${name}, as clients see it.
message ${name} {
  // Its name in the API, for example "things/1".
  string name = 1 [deprecated = true, json_name = "resourceName"];
  repeated string tags = 2;
  map<string, ${name}> parts = 3;
  oneof state { bool is_open = 4; int64 closed_at = 5; }
  Kind kind = 6;
  enum Kind { KIND_UNSPECIFIED = 0; KIND_SMALL = 1; KIND_LARGE = 2; }
  reserved 9 to 11, 15;
}
message List${name}Request { int32 page_size = 1; string page_token = 2; }
message List${name}Response { repeated ${name} items = 1; string next_page_token = 2; }
service ${name}Service {
  // Lists them, page by page.
  rpc List${name}(List${name}Request) returns (List${name}Response) { option idempotency_level = NO_SIDE_EFFECTS; }
}
`
}

const names = Array.from({ length: 66 }, (_, index) => `Resource${index}`)
const text = `syntax = "proto3";\npackage bench.v1;\n${names.map(resource).join('')}`
const readers: Readonly<Record<string, () => unknown>> = {
  ours: () => parseFile('bench.proto', text, []),
  protobufjs: () => parse(text, { keepCase: true, alternateCommentMode: true }),
}

function millisecondsAText(read: () => unknown): number {
  const before = process.cpuUsage()
  for (let time = 0; time < TEXTS_A_ROUND; time++) read()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / TEXTS_A_ROUND
}

for (const read of Object.values(readers)) for (let round = 0; round < 3; round++) millisecondsAText(read)
const samples = Object.keys(readers).map((name) => ({ name, times: [] as number[] }))
for (let round = 0; round < Number(values.rounds); round++)
  for (const { name, times } of samples) times.push(millisecondsAText(readers[name] as () => unknown))
const [ours, other] = samples.map(({ times }) => times) as [number[], number[]]
const ratio = spreadOf(ours.map((time, round) => time / (other[round] as number))).median
console.log(
  `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}, ${text.length} bytes of proto`,
)
for (const { name, times } of samples)
  console.log(
    `${name}: ${spreadOf(times).min.toFixed(2)} ms of CPU a text, the least of ${values.rounds} rounds`,
  )
console.log(`ours × protobufjs: ${ratio.toFixed(2)}, the median of the rounds`)

// A gateway with as many root fields as `BENCH_FIELDS` says beside one of its own: half of them methods of gRPC, half
// endpoints of REST, each with types of its own. No backend has to be there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { field } from '@vinyasa/rest-connector'

const numbers = Array.from({ length: Number(process.env.BENCH_FIELDS) / 2 }, (_, index) => index)

const proto = `syntax = "proto3";
package fields.v1;
service Things {
${numbers.map((n) => `  rpc GetThing${n}(GetThing${n}Request) returns (Thing${n});`).join('\n')}
}
${numbers
  .map(
    (n) => `message GetThing${n}Request { string id = 1; }
message Thing${n} {
  string id = 1; string name = 2; double price = 3; int32 stock = 4; bool active = 5; repeated Part${n} parts = 6;
}
message Part${n} { string id = 1; string title = 2; int64 size = 3; }`,
  )
  .join('\n')}
`

function overGrpc() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-fields-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'things.proto')
  writeFileSync(file, proto)
  const methods = Object.fromEntries(
    numbers.map((n) => [`fields.v1.Things.GetThing${n}`, { schema: { type: 'QUERY', name: `thing${n}` } }]),
  )
  return { things: { protoFiles: [file], endpoint: '127.0.0.1:9', methods } }
}

const { required: id } = field.string
const { string } = field

function overRest() {
  const endpoints = numbers.map((n) => ({
    name: `item${n}`,
    path: `/items${n}/{id}`,
    args: { id: 'String!' },
    responseSchema: {
      typeName: `Item${n}`,
      fields: {
        id,
        name: string,
        price: field.float,
        stock: field.int,
        active: field.boolean,
        parts: field.list(field.object(`ItemPart${n}`, { id, title: string, size: field.int })),
      },
    },
  }))
  return { items: { baseUrl: 'http://127.0.0.1:9', endpoints } }
}

export default {
  ...(numbers.length > 0 && { grpc: overGrpc(), rest: overRest() }),
  typeDefs: 'type Query { hello: String }',
  resolvers: { Query: { hello: () => 'world' } },
}

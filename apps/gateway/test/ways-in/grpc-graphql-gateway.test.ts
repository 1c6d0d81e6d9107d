import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startGrpcBackend } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyFolder, type Folder } from '../support/folder.ts'
import { post } from '../support/gateway.ts'

const old = (path: string): string => fileURLToPath(new URL(`old/${path}`, import.meta.url))

interface Moved {
  readonly folder: Folder
  readonly said: readonly string[]
  readonly config: string
  readonly calls: () => readonly string[]
}

const said = (folder: Folder): string[] =>
  folder.out.filter((line) => /^(skipped|clients|breaking|dangerous|wrong|not tried)/.test(line))

/** An old project, with its backends, moved by one command. */
async function moved(
  project: string,
  from: string,
  protos: Readonly<Record<string, string>>,
  handlers: Parameters<typeof startGrpcBackend>[0]['handlers'],
  ports: readonly string[],
): Promise<Moved> {
  const texts = await Promise.all(
    Object.entries(protos).map(async ([name, path]) => [name, await readFile(old(path), 'utf8')] as const),
  )
  const graphql = await readFile(
    new URL('../../../../packages/grpc-source/proto/graphql.proto', import.meta.url),
    'utf8',
  )
  const backend = await startGrpcBackend({
    protos: {
      [project.endsWith('go') ? 'graphql/graphql.proto' : 'graphql.proto']: graphql,
      ...Object.fromEntries(texts),
    },
    handlers,
  })
  onTestFinished(() => backend.stop())
  const folder = await emptyFolder()
  await cp(old(project), folder.directory, { recursive: true })
  for (const file of [
    ...Object.values(protos).map((path) => path.slice(project.length + 1)),
    ...(project.endsWith('go') ? ['gateway/main.go'] : ['src/main.rs']),
  ]) {
    const path = join(folder.directory, file)
    const text = await readFile(path, 'utf8')
    await writeFile(
      path,
      ports.reduce((all, port) => all.replaceAll(port, String(backend.port)), text),
    )
  }
  expect([await folder.command('init', '--from', from), folder.err]).toEqual([0, []])
  const config = await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')
  return {
    folder,
    said: said(folder),
    config: config.replaceAll(String(backend.port), '1').replace(`from ${from},`, 'from it,'),
    calls: () => backend.calls.map(({ path }: any) => path),
  }
}

async function answers(
  folder: Folder,
  operations: Readonly<Record<string, string>>,
  readinessPath?: string,
): Promise<Record<string, any>> {
  const endpoint = await folder.start(readinessPath)
  const all: Record<string, any> = {}
  for (const [name, query] of Object.entries(operations))
    all[name] = await (await post(endpoint, { query })).json()
  return all
}

const FILM = {
  id: '7',
  title: 'Ends',
  genre: 'DRAMA',
  runningTime: 95,
  spokenLanguages: ['fi'],
  directorId: '3',
  sequels: [{ id: '8', title: 'Means' }],
  boxOffice: { fi: '1200' },
  rating: { value: 4.5 },
  poster: { url: '/p', bytesSize: '9' },
}

const CINEMA = {
  film: '{ film(id: 7) { id title genre running_time spoken_languages director { id full_name } } }',
  nested:
    '{ film(id: 7) { sequels { id title } poster { url bytes_size } box_office { key value } rating } }',
  types: '{ film(id: 7) { __typename poster { __typename } ... on Cinema_Type_Film { title } } }',
  films: '{ films(genre: COMEDY, page_size: 5, ids: [7]) { id } }',
  screening: '{ screening(id: 1) { id free_seats film { title } } }',
  screeningTime: '{ screening(id: 1) { starts_at { seconds } } }',
  person: '{ person(id: 3) { id full_name } }',
  book: 'mutation ($b: Cinema_Input_BookSeatsRequest!) { bookSeats(booking: $b) { code total_cents seats { row number } } }',
  rate: 'mutation { rateFilm(id: 7, stars: 4.5) { id } }',
  interface: '{ film(id: 7) { sequels { ... on Cinema_Interface_Film { title } } } }',
}

describe('init --from a project of grpc-graphql-gateway', () => {
  it('of Go: its clients keep names, types and arguments, and each difference is named', async () => {
    const {
      folder,
      said: lines,
      config,
    } = await moved(
      'cinema-go',
      '.',
      { 'cinema.proto': 'cinema-go/proto/cinema.proto', 'people.proto': 'cinema-go/proto/people.proto' },
      {
        'cinema.v1.Cinema/GetFilm': () => FILM,
        'cinema.v1.Cinema/ListFilms': ({ ids }) => ({ films: ids.map((id: string) => ({ id })) }),
        'cinema.v1.Cinema/GetScreening': ({ id }) => ({
          id,
          film: FILM,
          freeSeats: [1, 2],
          startsAt: { seconds: '5' },
        }),
        'cinema.v1.Cinema/BookSeats': ({ seats }) => ({ code: 'c', totalCents: '1900', seats }),
        'cinema.v1.Cinema/RateFilm': ({ id }) => ({ id }),
        'people.v1.People/GetPerson': ({ id }) => ({ id, fullName: 'Ida' }),
        'people.v1.People/GetDirector': ({ directorId }) => ({ id: directorId, fullName: 'Max' }),
      },
      ['50080', '50081'],
    )
    expect(lines).toMatchInlineSnapshot(`
      [
        "skipped  gateway/main.go:20: Cors(): list the allowed origins in graphql.cors",
        "skipped  gateway/main.go:21: requestId: middleware cannot be converted; list the headers that it forwards in forwardHeaders, and write the rest as a plugin",
        "skipped  proto/cinema.proto:70: director: clients can no longer send the arguments that the parent object provides",
        "skipped  proto/cinema.proto:73: rating: the field is now a value or null; before, it was an object with the field value",
        "clients  5 breaking, 0 dangerous",
        "breaking Type 'Cinema_Interface_Film' was removed",
        "breaking Input field 'Cinema_Input_BookSeatsRequest.seats' changed type from '[Cinema_Input_Seat]' to '[Cinema_Input_Seat!]'",
        "breaking 'Cinema_Type_Film' object type no longer implements 'Cinema_Interface_Film' interface",
        "breaking Field 'Cinema_Type_Film.sequels' changed type from '[Cinema_Interface_Film]' to '[Cinema_Type_Film!]!'",
        "breaking Type for argument 'ids' on field 'Query.films' changed from '[Int]' to '[Int!]'",
      ]
    `)
    await expect(config).toMatchFileSnapshot('written/cinema.config.yaml.snap')
    const endpoint = await folder.start()
    const all: Record<string, any> = {}
    for (const [name, query] of Object.entries(CINEMA))
      all[name] = await (
        await post(endpoint, { query, variables: { b: { screening_id: 1, seats: [{ row: 2, number: 3 }] } } })
      ).json()
    await expect(JSON.stringify(all, null, 2)).toMatchFileSnapshot('written/cinema.answers.json.snap')
    // Those whose fields were named above.
    expect(Object.keys(all).filter((name) => all[name].errors)).toEqual(['interface'])
  }, 120_000)

  const DEPOT = {
    parcel: '{ parcel(id: "p1") { id weightGrams state shelf { id capacity } tags stops __typename } }',
    parcels: '{ parcels(where: { state: SENT, tags: ["a"], above_grams: "5" }) { id } }',
    shelf: '{ shelf(id: "s1") { id capacity } }',
    move: 'mutation { moveParcel(input: { id: "p1", shelfId: "s2" }) { id shelf { id } } }',
    label: 'mutation { attachLabel(id: "p1", image: "AP8=") { id image } }',
    fragment: '{ parcel(id: "p1") { ... on depot_Parcel { id } } }',
    audit: '{ auditLog { lines } }',
  }

  it.each(['.', 'src/main.rs'])(
    'of Rust, given %s: what its builder was told is set',
    async (from) => {
      const parcel = {
        id: 'p1',
        weightGrams: '9007199254740993',
        state: 'STORED',
        shelf: { id: 's1', capacity: '4' },
        tags: ['a'],
        stops: 2,
      }
      const {
        folder,
        said: lines,
        config,
      } = await moved(
        'depot-rust',
        from,
        { 'depot.proto': 'depot-rust/proto/depot.proto' },
        {
          'depot.Depot/GetParcel': () => parcel,
          'depot.Depot/ListParcels': () => ({ parcels: [parcel] }),
          'depot.Depot/ResolveShelf': ({ id }) => ({ id, capacity: '4' }),
          'depot.Depot/MoveParcel': ({ id, shelfId }) => ({ ...parcel, id, shelf: { id: shelfId } }),
          'depot.Depot/AttachLabel': ({ id, image }) => ({ id, image }),
        },
        ['50082'],
      )
      expect(lines).toMatchInlineSnapshot(`
        [
          "skipped  src/main.rs:21: add_middleware: middleware cannot be converted; use rateLimit, auth.jwt and log, and write the rest as a plugin",
          "skipped  src/main.rs:32: with_waf: this setting has no equivalent; write a plugin if you need it",
          "clients  2 breaking, 0 dangerous",
          "breaking Type for argument 'input' on field 'Mutation.moveParcel' changed from 'depot_MoveParcelRequest' to 'depot_MoveParcelRequest!'",
          "breaking Input field 'depot_ListParcelsRequest.tags' changed type from '[String]' to '[String!]'",
        ]
      `)
      await expect(config).toMatchFileSnapshot('written/depot.config.yaml.snap')
      const all = await answers(folder, DEPOT, '/ready')
      await expect(JSON.stringify(all, null, 2)).toMatchFileSnapshot('written/depot.answers.json.snap')
      expect(Object.keys(all).filter((name) => all[name].errors)).toEqual(['audit'])
    },
    120_000,
  )
})

describe('a project', () => {
  const proto = (service: string, options = ''): string => `syntax = "proto3"; package shop.v1;
    import "graphql.proto";
    ${options}
    message Find { oneof by { string name = 1; int64 number = 2; } repeated int64 ids = 3; }
    message Thing { int64 id = 1; repeated Thing parts = 2; }
    service Shop { ${service}
      rpc FindThing(Find) returns (Thing) { option (graphql.schema) = { type: QUERY name: "thing" }; }
      rpc PutThing(Find) returns (Thing) { option (graphql.schema) = { type: MUTATION name: "put" request { name: "input" } }; }
    }`
  const GO = 'option go_package = "example.com/shop;shop_pb";'
  const host = (more: string): string => `option (graphql.service) = { host: "shop:50051" ${more} };`
  const main = (body: string): string => `package main
import "github.com/ysugimoto/grpc-graphql-gateway/runtime"
func main() { mux := runtime.NewServeMux()
${body}
}`
  const rust = (body: string): string => `use grpc_graphql_gateway::Gateway;
async fn main() {
${body}
}`

  const rows: readonly (readonly [string, Readonly<Record<string, string>>, string, RegExp, RegExp])[] = [
    [
      'of Go by its proto alone',
      { 'a.proto': proto(host(''), GO) },
      'a.proto',
      /\(Go\)\.[^]*endpoint: shop:50051[^]*prefix: \{ types: ShopPb_Type_ \}[^]*FindInput: ShopPb_Input_Find /,
      /does not show whether the server uses TLS/,
    ],
    [
      'of Rust by its proto alone, whose server has TLS',
      { 'a.proto': proto(host('')) },
      'a.proto',
      /\(Rust\)\.[^]*endpoint: https:\/\/shop:50051[^]*prefix: \{ types: shop_v1_ \}/,
      /insecure is not set in the annotation, so the gateway uses TLS/,
    ],
    [
      'with plain servers',
      { 'a.proto': proto(host('insecure: true')) },
      '.',
      /endpoint: shop:50051/,
      /^((?!TLS)[^])*$/,
    ],
    [
      'whose plugin of protoc writes camelCase',
      { 'a.proto': proto('', GO), 'buf.gen.yaml': 'plugins: [{ name: graphql, opt: field_camel }]' },
      '.',
      /^((?!fieldNames)[^])*$/,
      /clients/,
    ],
    [
      'whose server is computed',
      {
        'a.proto': proto(host('insecure: true'), GO),
        'cmd/main.go': main(
          'conn, _ := grpc.Dial(*address)\nshop.RegisterShopGraphqlHandler(mux, conn)\nhttp.ListenAndServe("127.0.0.1:81", nil)\nhttp.Handle("/api", mux)',
        ),
      },
      'cmd/main.go',
      /host: 127.0.0.1, port: 81[^]*path: \/api[^]*endpoint: shop:50051/,
      /cmd\/main.go:5: Shop: found no literal address of the service in the code; set the address in endpoint/,
    ],
    [
      'whose server has TLS by code',
      {
        'a.proto': proto('', GO),
        'main.go': main(
          'conn, err := grpc.NewClient("shop:443", grpc.WithTransportCredentials(credentials.NewTLS(nil)))\nshop.RegisterShopGraphqlHandler(mux, conn)',
        ),
      },
      '.',
      /endpoint: https:\/\/shop:443/,
      /clients/,
    ],
    [
      'with two gateways in one program',
      {
        'a.proto': proto(''),
        'src/main.rs': rust(
          'Gateway::builder().with_services(["shop.v1.Shop"]).serve("0.0.0.0:1").await;\nGateway::builder().add_grpc_client("shop.v1.Shop", GrpcClient::new("http://a:1").await?).disable_introspection();',
        ),
      },
      '.',
      /introspection: false[^]*endpoint: a:1/,
      /src\/main.rs:4: the code builds more than one gateway/,
    ],
    [
      'whose constants stand in its calls',
      {
        'a.proto': proto(''),
        'src/main.rs': rust(
          'const A: &str = "http://a:7";\nconst B: &str = "0.0.0.0:9";\nlet c = GrpcClient::builder(A).connect_lazy()?;\nlet gateway = Gateway::builder().add_grpc_clients([("shop.v1.Shop".to_string(), c)]).build()?;\ngateway.serve(B).await?;',
        ),
      },
      '.',
      /port: 9 \}[^]*endpoint: a:7/,
      /clients/,
    ],
    [
      'beside protos of other gateways: those that it has clients for are its services',
      {
        'proto/a.proto': proto(''),
        'proto/b.proto': proto('').replaceAll('shop.v1', 'other.v1'),
        'src/main.rs': rust(
          'Gateway::builder().add_grpc_client("shop.v1.Shop", GrpcClient::builder("http://a:1").connect_lazy()?).enable_federation();',
        ),
      },
      'src/main.rs',
      /federation: true[^]*protoFiles:\s+- proto\/a.proto\s+includePaths/,
      /clients/,
    ],
    [
      'whose services are computed',
      {
        'a.proto': proto(''),
        'src/main.rs': rust('Gateway::builder().with_services(names).serve("0.0.0.0:1").await;'),
      },
      '.',
      /protoFiles:\s+- a.proto/,
      /src\/main.rs:3: with_services: the call contains no literal service names/,
    ],
  ]
  it.each(rows)('%s', async (_, files, from, config, lines) => {
    const folder = await emptyFolder()
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder.directory, file)), { recursive: true })
      await writeFile(join(folder.directory, file), text)
    }
    expect([await folder.command('init', '--from', from), folder.err]).toEqual([0, []])
    expect(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')).toMatch(config)
    expect(folder.out.join('\n')).toMatch(lines)
    expect(said(folder).filter((line) => line.startsWith('wrong'))).toEqual([])
  })

  it.each([
    [
      'no protos',
      { 'main.go': main('shop.RegisterShopGraphql(mux)') },
      /found no \.proto file with the option \(graphql\.schema\)/,
    ],
    [
      'code of something else',
      { 'a.proto': proto('', GO), 'main.go': 'package main' },
      /the given Go or Rust file does not start a gateway/,
    ],
    [
      'a proto that is none',
      { 'main.go': main('shop.RegisterShopGraphql(mux)'), 'a.proto': `${proto('', GO)} message {` },
      /a\.proto/,
    ],
    [
      'protos of two gateways, whose fields are the same',
      {
        'main.go': main('shop.RegisterShopGraphql(mux)'),
        'a.proto': proto('', GO),
        'b.proto': proto('', GO).replaceAll('shop.v1', 'other.v1'),
      },
      /grpc source "a" has \d+ errors?:[^]*the query field "thing" has the same name[^]*pass one of the files: --from a\.proto/,
    ],
  ])('is refused with %s', async (_, files, message) => {
    const folder = await emptyFolder()
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder.directory, file), text)
    expect(await folder.command('init', '--from', 'main.go')).toBe(1)
    expect(folder.err.join('\n')).toMatch(message)
  })
})

import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
  folder.out.filter((line) => /^(left|clients|breaking|dangerous|wrong|untried)/.test(line))

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
    config: config.replaceAll(String(backend.port), '1'),
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
        "left     gateway/main.go:20: Cors(): list the origins of browsers in graphql.cors",
        "left     gateway/main.go:21: requestId: middleware is code: name the headers that it passes on in forwardHeaders, and write the rest as a plugin",
        "left     proto/cinema.proto:70: director: what its parent fills is no argument here",
        "left     proto/cinema.proto:73: rating: a value or null here, where it was an object with a value",
        "clients  7 breaking, 0 dangerous",
        "breaking Type 'Cinema_Interface_Film' was removed",
        "breaking Type 'Timestamppb_Type_Timestamp' was removed",
        "breaking Input field 'Cinema_Input_BookSeatsRequest.seats' changed type from '[Cinema_Input_Seat]' to '[Cinema_Input_Seat!]'",
        "breaking 'Cinema_Type_Film' object type no longer implements 'Cinema_Interface_Film' interface",
        "breaking Field 'Cinema_Type_Film.sequels' changed type from '[Cinema_Interface_Film]' to '[Cinema_Type_Film!]!'",
        "breaking Field 'Cinema_Type_Screening.starts_at' changed type from 'Timestamppb_Type_Timestamp' to 'DateTime'",
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
    expect(Object.keys(all).filter((name) => all[name].errors)).toEqual(['screeningTime', 'interface'])
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
          "left     src/main.rs:21: add_middleware: middleware is code: see rateLimit, auth.jwt and log, and write the rest as a plugin",
          "left     src/main.rs:32: with_waf: it has no counterpart; it was left out",
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

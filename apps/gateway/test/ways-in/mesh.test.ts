import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startGrpcBackend, startRestBackend, type RestHandler } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyFolder, type Folder } from '../support/folder.ts'
import { post } from '../support/gateway.ts'

const PEOPLE = /* proto */ `
  syntax = "proto3";
  package people.v1;
  import "google/protobuf/timestamp.proto";
  message PersonId { string id = 1; }
  message Person { string id = 1; string full_name = 2; int64 born = 3; google.protobuf.Timestamp joined = 4; }
  service PersonService {
    rpc GetPerson(PersonId) returns (Person);
    rpc FindPerson(PersonId) returns (Person);
    rpc AddPerson(Person) returns (Person);
  }
`

const TRIP = { id: 't1', dest: 'Oslo', days: 3, kind: 'city break', guideId: 'p1', internalNote: 'no' }

const trips: RestHandler = ({ method, url, json }) => {
  if (url.pathname === '/trips/categories') return { json: ['sea', 'hills'] }
  if (url.pathname === '/trips/search') return { json: [{ ...TRIP, dest: json().text }] }
  if (method === 'POST') return { json: { ...TRIP, ...json() } }
  return { json: url.pathname === '/trips' ? [TRIP] : TRIP }
}

const weather: RestHandler = ({ url, json }) => {
  if (url.pathname === '/reports') return { json: { id: json().text.length } }
  if (url.pathname === '/stations') return { json: [{ id: 1, name: url.searchParams.get('near') }] }
  return {
    json: {
      city: url.pathname.split('/')[2],
      days: [{ high: 9.5, low: Number(url.searchParams.get('days')) }],
    },
  }
}

/** The operations of the site's clients, as they were. */
const OPERATIONS = {
  trips: '{ trips(limit: 2) { id destination days kind forecast { city days { high } } } }',
  trip: '{ getTrip(id: "t1") { destination guideId } }',
  categories: '{ trips_categories }',
  search: '{ searchTrips(input: { text: "Rome" }) { destination } }',
  create: 'mutation { createTrip(input: { dest: "Bern", days: 2 }) { destination days } }',
  person: '{ people_v1_PersonService_GetPerson(input: { id: "p1" }) { id full_name born } }',
  find: 'query ($input: people__v1__PersonId_Input) { people_v1_PersonService_FindPerson(input: $input) { full_name } }',
  add: 'mutation { people_v1_PersonService_AddPerson(input: { id: "p2", full_name: "Bo" }) { full_name } }',
  joined:
    'mutation ($at: google__protobuf__Timestamp_Input) { people_v1_PersonService_AddPerson(input: { id: "p3", joined: $at }) { joined { seconds nanos } } }',
  forecast: '{ Weather_forecast(city: "Oslo", days: 4) { city days { high low } } }',
  stations: '{ Weather_stations(near: "Oslo") { id name } }',
  report: 'mutation { Weather_report(input: { city: "Oslo", text: "rain" }) { id } }',
  almanac: '{ Weather_almanac }',
  guide: '{ trips { guide { full_name } } }',
}

async function moved(isBuilt: boolean): Promise<{ folder: Folder; said: readonly string[] }> {
  const [one, two] = [await startRestBackend(trips), await startRestBackend(weather)]
  const grpc = await startGrpcBackend({
    protos: PEOPLE,
    handlers: {
      'people.v1.PersonService/GetPerson': async ({ id }) => ({ id, fullName: 'Ann Lee', born: '1990' }),
      'people.v1.PersonService/FindPerson': async ({ id }) => ({ id, fullName: 'Ann Lee' }),
      'people.v1.PersonService/AddPerson': async (person) => person,
    },
  })
  for (const backend of [one, two, grpc]) onTestFinished(() => backend.stop())
  const folder = await emptyFolder()
  folder.environment['TRIPS_KEY'] = 'k3'
  const read = (file: string): Promise<string> => readFile(new URL(`old/${file}`, import.meta.url), 'utf8')
  const write = (file: string, text: string): Promise<void> => writeFile(join(folder.directory, file), text)
  const here = (await read('meshrc.yaml'))
    .replace('localhost:3300', `localhost:${one.port}`)
    .replace('localhost:3301', `localhost:${two.port}`)
    .replace('localhost:50070', `localhost:${grpc.port}`)
  await write('.meshrc.yaml', here)
  await write('trips.yaml', await read('trips.yaml'))
  await write('people.proto', PEOPLE)
  if (isBuilt) {
    await mkdir(join(folder.directory, '.mesh'))
    await write('.mesh/schema.graphql', await read('mesh-schema.graphql'))
  }
  expect([await folder.command('init', '--from', '.meshrc.yaml'), folder.err]).toEqual([0, []])
  return {
    folder,
    said: folder.out.filter((line) => /^(skipped|clients|breaking|dangerous|wrong)/.test(line)),
  }
}

describe('init --from a .meshrc.yaml', () => {
  it('writes a config that serves the operations of its clients, and says line by line what it cannot', async () => {
    const { folder, said } = await moved(true)
    expect(said).toMatchInlineSnapshot(`
      [
        "skipped  .meshrc.yaml:8: serve.browser has no equivalent in this gateway",
        "skipped  .meshrc.yaml:16: Trips: header X-Locale: only fixed values and the client header of the same name can be converted; set other values in a TypeScript config",
        "skipped  .meshrc.yaml:22: Trips: ignoreErrorResponses cannot be converted; look for a similar setting of REST sources",
        "skipped  .meshrc.yaml:24: Trips: rename of Trip(.*): regular expressions have no equivalent; use * as a wildcard",
        "skipped  .meshrc.yaml:49: Trips: transform namingConvention cannot be converted; expected prefix, rename or filterSchema with options",
        "skipped  .meshrc.yaml:55: people: 64-bit integers (BigInt) that are not safe integers in JavaScript are now strings of digits; safe integers remain numbers",
        "skipped  .meshrc.yaml:91: almanac: {context.year} has no equivalent; write a resolver in a TypeScript config",
        "skipped  .meshrc.yaml:99: Legacy: handler soap: SOAP sources are not supported",
        "skipped  .meshrc.yaml:103: additionalTypeDefs: replace each field that uses @resolveTo with an entry in "joins" of a gRPC source or in "on" of a REST endpoint; write other definitions in typeDefs",
        "skipped  .meshrc.yaml:117: Trip.guide: this resolver cannot be converted; use "joins" of a gRPC source, "on" of a REST endpoint, or a resolver in a TypeScript config",
        "skipped  .meshrc.yaml:125: plugins: the gateway supports Yoga and Envelop plugins; add them in a TypeScript config",
        "skipped  .meshrc.yaml:128: cache: set responseCache",
        "clients  3 breaking, 1 dangerous",
        "breaking Type 'JSON' was removed",
        "breaking Field 'Weather_almanac' was removed from object type 'Query'",
        "breaking Field 'guide' was removed from object type 'Trip'",
        "dangerous Argument 'days: Int' added to field 'Trip.forecast'",
      ]
    `)
    const config = await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')
    await expect(config.replaceAll(/localhost:\d+/g, 'localhost:1')).toMatchFileSnapshot(
      'written/mesh.config.yaml.snap',
    )
    const endpoint = await folder.start()
    const answers: Record<string, any> = {}
    const variables = { input: { id: 'p1' }, at: { seconds: 1_700_000_000, nanos: 5 } }
    for (const [name, query] of Object.entries(OPERATIONS))
      answers[name] = await (await post(endpoint, { query, variables })).json()
    await expect(JSON.stringify(answers, null, 2)).toMatchFileSnapshot('written/mesh.answers.json.snap')
    // Those whose fields were named above.
    expect(Object.keys(answers).filter((name) => answers[name].errors)).toEqual(['almanac', 'guide'])
  }, 120_000)

  it('without the schema that Mesh built it has the names of methods, and JSON where types were made of samples', async () => {
    const { folder, said } = await moved(false)
    expect(said.filter((line) => !line.startsWith('skipped '))).toEqual([])
    const untyped = said.filter((line) =>
      line.includes('because .mesh/schema.graphql does not define the field'),
    )
    expect(untyped).toHaveLength(3)
    expect(untyped.filter((line) => line.includes('returns JSON and sends no body'))).toHaveLength(1)
    expect(await folder.command('check')).toBe(0)
    expect(folder.out.find((line) => line.startsWith('schema '))).toBe(
      'schema   8 queries, 3 mutations, 0 subscriptions',
    )
  }, 120_000)
})

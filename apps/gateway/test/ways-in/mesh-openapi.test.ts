import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRestBackend } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { emptyFolder } from '../support/folder.ts'
import { post } from '../support/gateway.ts'

/** Operations of Mesh's clients, as they were, and what they get. */
const OPERATIONS = [
  ['{ jokes_categories }', { jokes_categories: ['puns'] }],
  [
    'query ($id: BigInt!) { jokes_by_id(id: $id) { id votes access } }',
    { jokes_by_id: { id: 7, votes: 3, access: 'own_only' } },
  ],
  [
    '{ jokes_random(access: own_only) { text } }',
    { jokes_random: { text: '/jokes/random?access=own-only' } },
  ],
  [
    'mutation ($input: Joke_Input) { post_jokes(input: $input) { text access } }',
    { post_jokes: { text: 'knock', access: 'all_access' } },
  ],
] as const

it('init --from a .meshrc.yaml gives an OpenAPI source the names that Mesh gives it, without a schema that it built', async () => {
  const backend = await startRestBackend(({ method, url, json }) => {
    if (url.pathname === '/jokes/categories') return { json: ['puns'] }
    if (method === 'POST') return { json: json() }
    return { json: { id: 7, votes: 3, text: `${url.pathname}${url.search}`, access: 'own-only' } }
  })
  onTestFinished(() => backend.stop())
  const folder = await emptyFolder()
  const document = await readFile(new URL('old/jokes.yaml', import.meta.url), 'utf8')
  await writeFile(join(folder.directory, 'jokes.yaml'), document)
  await writeFile(
    join(folder.directory, '.meshrc.yaml'),
    `sources: [{ name: Jokes, handler: { openapi: { source: ./jokes.yaml, endpoint: "${backend.url}" } } }]`,
  )
  expect([await folder.command('init', '--from', '.meshrc.yaml'), folder.err]).toEqual([0, []])
  expect(folder.out.filter((line) => line.startsWith('skipped '))).toEqual([
    'skipped  .meshrc.yaml:1: Jokes: 64-bit integers (BigInt) that are not safe integers in JavaScript are now strings of digits; safe integers remain numbers',
  ])
  const config = parse(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8'))
  expect(config.rest.Jokes).toMatchObject({
    openapi: { integers: 'int', rename: { 'jokes-random': 'jokes_random' } },
    int64: 'number-when-safe',
    rename: { JokeInput: 'Joke_Input', 'JokeAccess.ALL_ACCESS': 'all_access', Long: 'BigInt' },
  })
  const endpoint = await folder.start()
  for (const [query, data] of OPERATIONS) {
    const sent = { id: 7, input: { text: 'knock', access: 'all_access' } }
    const variables = Object.fromEntries(Object.entries(sent).filter(([name]) => query.includes(`$${name}`)))
    expect(await (await post(endpoint, { query, variables })).json()).toEqual({ data })
  }
}, 120_000)

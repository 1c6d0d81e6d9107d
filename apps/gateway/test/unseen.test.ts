import { temporaryFolder } from '@vinyasa/test-kit'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from '../src/cli.ts'

/** A document whose answers are plain values, so that nobody knows what they depend on. */
async function folderWith(operations: number, more: string): Promise<string> {
  const directory = await temporaryFolder('unseen')
  const responses = {
    200: { description: '', content: { 'application/json': { schema: { type: 'integer' } } } },
  }
  const paths = Object.fromEntries(
    Array.from({ length: operations }, (_, index) => [
      `/n${index}`,
      { get: { operationId: `get${index}`, responses }, post: { operationId: `set${index}`, responses } },
    ]),
  )
  const document = { openapi: '3.0.0', info: { title: 't', version: '1' }, paths }
  await writeFile(join(directory, 'numbers.json'), JSON.stringify(document))
  await writeFile(
    join(directory, 'gateway.config.yaml'),
    `rest: { n: { baseUrl: 'http://127.0.0.1:1', openapi: numbers.json, healthPath: false } }\n${more}`,
  )
  return directory
}

async function check(directory: string, ...flags: readonly string[]): Promise<string[]> {
  const out: string[] = []
  const code = await run(['check', ...flags], {
    directory,
    environment: {},
    shutdown: new AbortController().signal,
    reload: new EventTarget(),
    print: (text) => out.push(text),
    printError: (text) => out.push(text),
  })
  expect(code).toBe(0)
  return out.filter((line) => line.startsWith('undeclared ')).map((line) => line.replace(/^undeclared +/, ''))
}

describe.each(['', 'responseCache: true'])('check, of a document with many unseen fields and %j', (more) => {
  it('lists the first of each kind, says how many more there are, and lists all when asked', async () => {
    const directory = await folderWith(40, more)
    const listed = await check(directory)
    expect(listed.map((line) => line.replace(/^(\w+)\.\w+ (\w+).*/, '$1 $2'))).toEqual([
      ...Array.from({ length: 5 }, () => 'Mutation changes'),
      '35 more mutations with unknown changes; run vinyasa check --verbose to list all',
      ...Array.from({ length: 5 }, () => 'Query depends'),
      '35 more fields with unknown dependencies; run vinyasa check --verbose to list all',
    ])
    const all = await check(directory, '--verbose')
    expect(new Set(all.map((line) => line.split(' ')[0])).size).toBe(80)
    expect(all).toHaveLength(80)
  })

  it('lists few whole', async () => {
    expect(await check(await folderWith(5, more))).toHaveLength(10)
  })
})

import { useSources, type PlanEvent, type Source } from '@vinyasa/source-kit'
import { createInvalidationBus } from '@vinyasa/invalidation'
import type { ExecutionArgs } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import initSqlJs from 'sql.js'
import { describe, expect, it } from 'vitest'
import { filmsSource } from './films-source.ts'

async function outcomes(...before: Plugin[]): Promise<string[]> {
  const { Database } = await initSqlJs()
  const db = new Database()
  db.run('CREATE TABLE films (id TEXT, title TEXT, ownerId TEXT)')
  const events: PlanEvent[] = []
  const { fields, ...source } = filmsSource(db, createInvalidationBus())
  const films: Source = {
    ...source,
    // Nobody has a User here.
    fields: fields.filter(({ parent }) => parent !== 'User'),
    onPlan: (event) => void events.push(event),
  }
  const yoga = createYoga({ logging: false, plugins: [...before, useSources(films)] as Plugin[] })
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ films { id } }' }),
  })
  expect(await response.json()).toEqual({ data: { films: [] } })
  return events.map(({ outcome }) => outcome)
}

describe('the interpreter that plans stand in for', () => {
  it('is Yoga’s own', async () => {
    expect(await outcomes()).toEqual(['planned'])
  })

  it('is known whatever a minifier calls it', async () => {
    const renamed: Plugin = {
      onExecute: ({ executeFn }) =>
        void Object.defineProperty(executeFn, 'name', { value: 'e', configurable: true }),
    }
    expect(await outcomes(renamed)).toEqual(['planned'])
  })

  it('is not another function of its name', async () => {
    const other: Plugin = {
      onExecute({ executeFn, setExecuteFn }) {
        const wrapped = (args: ExecutionArgs): unknown => executeFn(args)
        Object.defineProperty(wrapped, 'name', { value: 'normalizedExecutor' })
        setExecuteFn(wrapped)
      },
    }
    expect(await outcomes(other)).toEqual([])
  })
})

import type { Plugin } from 'graphql-yoga'
import { visit } from 'graphql'
import { describe, expect, it } from 'vitest'
import { IncrementalMerge } from '../src/answer/behaviour.ts'
import { ask, createWorld, typeDefs, useExtensions } from './kit.ts'

const directive = 'directive @defer(if: Boolean, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT'
const deferred = '{ users { id ... @defer { name } } }'
const plain = '{ users { id name } }'

/** Stands in for the plugin that delivers in parts: splits `name` off, for clients that take parts. */
function useStandInSplitter(failing = false): Plugin {
  const wantsParts = (request: Request): boolean =>
    request.headers.get('accept')?.includes('multipart') ?? false
  async function* split(result: any): AsyncGenerator<any> {
    const users = result.data.users as { id: string; name: string }[]
    yield { data: { users: users.map(({ id }) => ({ id })) }, hasNext: true }
    const incremental = users.map(({ name }, index) => ({ data: { name }, path: ['users', index] }))
    yield {
      incremental: failing ? [{ ...incremental[0], data: null, errors: [{ message: 'late' }] }] : incremental,
      hasNext: false,
    }
  }
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const { request, params } = args.contextValue as { request: Request; params: { query: string } }
      if (!params.query.includes('@defer') || !wantsParts(request)) return
      const stripped = visit(args.document, {
        Directive: ({ name }) => (name.value === 'defer' ? null : undefined),
      })
      setExecuteFn(async (given: any) => split(await executeFn({ ...given, document: stripped })))
    },
    onExecutionResult({ result, request, context, setResult }) {
      const { query } = (context as { params: { query: string } }).params
      if (query.includes('@defer') && wantsParts(request) && result && !(Symbol.asyncIterator in result)) {
        setResult(split(result))
      }
    },
  }
}

describe('a deferred query', () => {
  const world = (failing = false) =>
    createWorld({ typeDefs: `${directive}\n${typeDefs}`, after: [useStandInSplitter(failing)] })
  const parts = { headers: { accept: 'multipart/mixed' } }

  it('is stored whole, shared with the plain query, and split again', async () => {
    const one = world()
    const first = await ask(one, deferred, parts)
    expect(first.headers.get('content-type')).toContain('multipart/mixed')
    const shared = await ask(one, plain)
    expect([shared.cache, shared.json.data.users[1]]).toEqual(['HIT', { id: '2', name: 'Bob' }])
    const again = await ask(one, deferred, parts)
    expect([again.cache, again.text]).toEqual(['HIT', first.text])
    expect(one.calls['users']).toBe(1)
  })

  it('is answered from the plain query, whole for a client that takes no parts', async () => {
    const one = world()
    const whole = await ask(one, plain)
    const hit = await ask(one, deferred)
    expect([hit.cache, hit.text]).toEqual(['HIT', whole.text])
    expect((await ask(one, deferred, parts)).text).toContain('"incremental"')
  })

  it('is stored although another plugin adds extensions to its parts, and without these', async () => {
    const one = createWorld({
      typeDefs: `${directive}\n${typeDefs}`,
      after: [useExtensions({ trace: 'mine' }), useStandInSplitter()],
    })
    const first = await ask(one, deferred, parts)
    expect(first.text).toContain('"trace":"mine"')
    const plainHit = await ask(one, plain)
    expect([plainHit.cache, plainHit.json.extensions]).toEqual(['HIT', undefined])
    const again = await ask(one, deferred, parts)
    expect([again.cache, again.text.includes('trace')]).toEqual(['HIT', false])
  })

  it('is not stored when a part speaks of the head of its answer', async () => {
    const one = createWorld({
      typeDefs: `${directive}\n${typeDefs}`,
      after: [useExtensions({ http: { status: 404 } }), useStandInSplitter()],
    })
    await ask(one, deferred, parts)
    expect((await ask(one, plain)).cache).toBe('MISS')
  })

  it('with an error in a part is not stored', async () => {
    const one = world(true)
    await ask(one, deferred, parts)
    expect((await ask(one, plain)).cache).toBe('MISS')
  })
})

describe('IncrementalMerge', () => {
  const merge = (...parts: unknown[]): unknown => {
    const merged = new IncrementalMerge()
    for (const part of parts) merged.add(part)
    return merged.result()
  }
  it('merges nested objects, lists and shared fields without changing the parts', () => {
    const first = { data: { a: { id: 1, list: [{ x: 1 }, { x: 2 }] } }, hasNext: true }
    const copy = structuredClone(first)
    expect(
      merge(
        first,
        { incremental: [{ path: ['a'], data: { name: 'n', list: [{ y: 1 }, { y: 2 }] } }], hasNext: true },
        { incremental: [{ path: ['a', 'list', 1], data: { z: { deep: true } } }], hasNext: true },
        { hasNext: false },
      ),
    ).toEqual({
      a: {
        id: 1,
        name: 'n',
        list: [
          { x: 1, y: 1 },
          { x: 2, y: 2, z: { deep: true } },
        ],
      },
    })
    expect(first).toEqual(copy)
  })
  const unsound: [string, unknown[]][] = [
    [
      'an error',
      [
        { data: { a: 1 }, hasNext: true },
        { incremental: [{ path: [], data: null, errors: [{}] }], hasNext: false },
      ],
    ],
    [
      'a missing end',
      [
        { data: { a: 1 }, hasNext: true },
        { incremental: [{ path: [], data: { b: 1 } }], hasNext: true },
      ],
    ],
    [
      'a path that leads nowhere',
      [
        { data: { a: null }, hasNext: true },
        { incremental: [{ path: ['a'], data: { b: 1 } }], hasNext: false },
      ],
    ],
    ['another format', [{ data: {}, pending: [{ id: '0', path: [] }], hasNext: true }, { hasNext: false }]],
  ]
  it.each(unsound)('gives nothing for %s', (_name, parts) => {
    expect(merge(...parts)).toBeUndefined()
  })
})

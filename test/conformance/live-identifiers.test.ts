import { InMemoryLiveQueryStore } from '@n1ru4l/in-memory-live-query-store'
import { createDisposables, type Disposables, waitUntil } from '@vinyasa/test-kit'
import { createLiveQueryStore, useLiveQuery } from '@vinyasa/live-query'
import { execute, type GraphQLSchema, parse } from 'graphql'
import { createSchema, createYoga } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'

// After the public tests of @n1ru4l/in-memory-live-query-store: who holds that store keeps its `invalidate`.

interface Post {
  id: string | number
  title: string
  author?: Author
}
interface Author {
  id: string
  name: string
}
interface World {
  post: Post | null
  posts: Post[]
  author: Author
}

interface Step {
  /** What changes before `invalidate` is called. */
  readonly change?: (world: World) => void
  readonly invalidate: string | string[]
  /** What their store does with it. Default true. */
  readonly publishes?: boolean
}

interface Scenario {
  readonly what: string
  readonly query: string
  readonly variables?: Record<string, unknown>
  readonly operationName?: string
  readonly steps: readonly Step[]
  /** Ours may publish where theirs does not. */
  readonly wider?: true
}

const ada = { id: 'a', name: 'Ada' }
const onePost = 'query @live { post { id title runs } }'
const allPosts = 'query @live { posts { id title runs } }'
const retitle = (world: World): void => void (world.post = { id: '1', title: 'changed' })

const scenarios: readonly Scenario[] = [
  {
    what: 'a root field by its coordinate',
    query: onePost,
    steps: [{ change: retitle, invalidate: 'Query.post' }],
  },
  {
    what: 'a root field under an alias, through a fragment',
    query: 'query @live { ...F } fragment F on Query { mine: post { id runs } }',
    steps: [{ invalidate: 'Query.post' }, { invalidate: 'Post:1' }],
  },
  {
    what: 'a root field that is not selected',
    query: onePost,
    steps: [{ invalidate: 'Query.posts', publishes: false }],
  },
  {
    what: 'an object by type and id',
    query: onePost,
    steps: [{ change: retitle, invalidate: 'Post:1' }, { invalidate: 'Post:1' }],
  },
  {
    what: 'an object whose id is under an alias',
    query: 'query @live { post { key: id runs } }',
    steps: [{ invalidate: 'Post:1' }, { invalidate: 'Post:2', publishes: false }],
  },
  {
    what: 'an object that the result does not hold',
    query: onePost,
    steps: [
      { invalidate: 'Post:2', publishes: false },
      { invalidate: 'Author:1', publishes: false },
    ],
  },
  {
    what: 'an object that the result held before',
    query: onePost,
    steps: [
      { change: (world) => (world.post = { id: '2', title: 'new' }), invalidate: 'Post:1' },
      { invalidate: 'Post:1', publishes: false },
      { invalidate: 'Post:2' },
    ],
  },
  {
    what: 'an object that became null, and came back',
    query: onePost,
    steps: [
      { change: (world) => (world.post = null), invalidate: 'Post:1' },
      { change: retitle, invalidate: 'Query.post' },
      { invalidate: 'Post:1' },
    ],
  },
  {
    what: 'items of a list',
    query: allPosts,
    steps: [
      { invalidate: 'Post:2' },
      { change: ({ posts }) => posts.pop(), invalidate: 'Query.posts' },
      { invalidate: 'Post:2', publishes: false },
      { change: ({ posts }) => posts.push({ id: '3', title: 'three' }), invalidate: 'Query.posts' },
      { invalidate: 'Post:3' },
    ],
  },
  {
    what: 'an object below another',
    query: 'query @live { posts { id runs author { id name } } }',
    steps: [
      { change: ({ author }) => (author.name = 'Ada L.'), invalidate: 'Author:a' },
      { invalidate: 'Author:b', publishes: false },
    ],
  },
  {
    what: 'several identifiers of one query are one update',
    query: allPosts,
    steps: [{ invalidate: ['Post:1', 'Post:2', 'Query.posts'] }, { invalidate: ['Post:1', 'Post:1'] }],
  },
  {
    what: 'a list in which one identifier means the query',
    query: allPosts,
    steps: [{ invalidate: ['Post:9', 'Author:9', 'Query.post', 'Post:1'] }],
  },
  { what: 'an empty list', query: onePost, steps: [{ invalidate: [], publishes: false }] },
  {
    what: 'an id that is a number, and one with a colon',
    query: allPosts,
    steps: [
      {
        change: ({ posts }) => posts.push({ id: 7, title: 'n' }, { id: 'a:b', title: 'c' }),
        invalidate: 'Post:1',
      },
      { invalidate: 'Post:7' },
      { invalidate: 'Post:a:b' },
    ],
  },
  {
    what: 'one of the values of a union',
    query: 'query @live { anything { ... on Post { id runs } ... on Author { id } } }',
    steps: [{ invalidate: 'Author:a' }, { invalidate: 'Post:1' }],
  },
  {
    what: 'an index of arguments',
    query: 'query ($id: ID) @live { post(id: $id) { id runs } }',
    variables: { id: '1' },
    steps: [{ invalidate: 'Query.post(id:"1")' }],
  },
  {
    what: 'an index of other arguments',
    query: 'query ($id: ID) @live { post(id: $id) { id runs } }',
    variables: { id: '1' },
    steps: [{ invalidate: 'Query.post(id:"2")', publishes: false }],
    wider: true,
  },
  {
    what: 'an identifier that a field collects',
    query: 'query @live { tagged { id runs } }',
    steps: [{ invalidate: 'a tag' }],
  },
  {
    what: 'one of several operations',
    query: 'query A @live { post { id runs } } query B @live { posts { id runs } }',
    operationName: 'B',
    steps: [{ invalidate: 'Post:2' }],
  },
  {
    what: '@live with variables of its own, in one of several operations',
    query:
      'query A($id: ID) @live { post(id: $id) { id runs } } query B($live: Boolean = true, $id: ID) @live(if: $live) { ...F } fragment F on Query { post(id: $id) { id runs } }',
    variables: { id: '1' },
    operationName: 'B',
    steps: [{ invalidate: 'Post:1' }],
  },
  {
    what: '@live with a condition that holds',
    query: 'query ($live: Boolean!) @live(if: $live) { post { id runs } }',
    variables: { live: true },
    steps: [{ invalidate: 'Post:1' }],
  },
]

/** The schema, and what it reads. `runs` counts the executions. */
function createWorld(): { readonly schema: GraphQLSchema; readonly world: World } {
  const world: World = {
    post: { id: '1', title: 'one' },
    posts: [
      { id: '1', title: 'one' },
      { id: '2', title: 'two' },
    ],
    author: { ...ada },
  }
  let runs = 0
  const counting =
    <Value>(read: () => Value) =>
    (): Value => {
      runs += 1
      return structuredClone(read())
    }
  const withAuthor = (post: Post): Post => ({ ...post, author: world.author })
  const schema = createSchema({
    typeDefs: /* GraphQL */ `
      type Author {
        id: ID!
        name: String
      }
      type Post {
        id: ID!
        title: String
        author: Author
        runs: Int!
      }
      union Anything = Post | Author
      type Query {
        post(id: ID): Post
        posts(needle: String): [Post]
        anything: [Anything]
        tagged: Post
      }
    `,
    resolvers: {
      Query: {
        post: counting(() => world.post),
        posts: counting(() => world.posts.map(withAuthor)),
        anything: counting(() => [
          { __typename: 'Post', ...world.post },
          { __typename: 'Author', ...world.author },
        ]),
        tagged: counting(() => world.post),
      },
      // Nothing that is announced.
      Post: { runs: { resolve: () => runs, extensions: { dependsOn: [] } } },
    },
  })
  const tagged = schema.getQueryType()?.getFields()['tagged']
  if (tagged) tagged.extensions = { liveQuery: { collectResourceIdentifiers: () => 'a tag' } }
  return { schema, world }
}

interface Live {
  /** What was published so far. */
  readonly published: readonly unknown[]
  invalidate(identifiers: string | string[]): unknown
}

type Start = (schema: GraphQLSchema, scenario: Scenario, disposables: Disposables) => Live

const theirs: Start = (schema, { query, variables, operationName }, disposables) => {
  const store = new InMemoryLiveQueryStore({ indexBy: [{ field: 'Query.post', args: ['id'] }] })
  const args = { schema, document: parse(query), variableValues: variables, operationName }
  const results = store.makeExecute(execute)(args) as AsyncIterableIterator<{ readonly data: unknown }>
  disposables.use(() => results.return?.())
  const published: unknown[] = []
  const read = async (): Promise<void> => {
    for await (const { data } of results) published.push(JSON.parse(JSON.stringify(data)))
  }
  void read()
  return { published, invalidate: (identifiers) => store.invalidate(identifiers) }
}

const ours: Start = (schema, { query, variables, operationName }, disposables) => {
  const store = createLiveQueryStore({ matchEntityId: true })
  const plugin = disposables.use(useLiveQuery({ store, defaults: { enabled: true, throttleMs: 0 } }))
  const yoga = createYoga({ schema, logging: false, plugins: [plugin] })
  const published: unknown[] = []
  const read = async (): Promise<void> => {
    const response = await yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query, variables, operationName }),
    })
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1]
        if (data) published.push(JSON.parse(data).data)
      }
    }
  }
  void read()
  return { published, invalidate: (identifiers) => store.invalidate(identifiers) }
}

/** All that is published. A step that publishes nothing is followed by one that does, so that nothing has to be waited for in vain. */
async function play(start: Start, scenario: Scenario): Promise<readonly unknown[]> {
  const { steps } = scenario
  const { schema, world } = createWorld()
  const live = start(schema, scenario, createDisposables(onTestFinished))
  let expected = 1
  const until = () =>
    waitUntil(() => live.published.length >= expected, {
      timeoutMs: 15_000,
      awaited: `update ${expected} of ${start.name}`,
    })
  await until()
  const all = ['post', 'posts', 'anything', 'tagged'].map((field) => `Query.${field}`)
  for (const { change, invalidate, publishes = true } of [...steps, { invalidate: all }]) {
    change?.(world)
    live.invalidate(invalidate)
    if (publishes) expected += 1
    if (publishes) await until()
  }
  return live.published
}

describe('identifiers of @n1ru4l/in-memory-live-query-store', () => {
  it.each(scenarios.filter(({ wider }) => !wider).map((one) => [one.what, one] as const))(
    '%s',
    async (_, scenario) => {
      const expected = await play(theirs, scenario)
      const published = scenario.steps.filter(({ publishes = true }) => publishes).length
      expect(expected).toHaveLength(published + 2)
      expect(await play(ours, scenario)).toEqual(expected)
    },
  )

  it.each(scenarios.filter(({ wider }) => wider).map((one) => [one.what, one] as const))(
    '%s: ours may run more often, and never less',
    async (_, scenario) => {
      const [expected, seen] = [await play(theirs, scenario), await play(ours, scenario)]
      expect(seen.length).toBeGreaterThanOrEqual(expected.length)
    },
  )

  it('@live with a condition that does not hold is answered once', async () => {
    const query = 'query ($live: Boolean!) @live(if: $live) { post { id runs } }'
    const live = ours(
      createWorld().schema,
      { what: '', query, variables: { live: false }, steps: [] },
      createDisposables(onTestFinished),
    )
    await waitUntil(() => live.published.length === 1)
    expect(live.published).toEqual([{ post: { id: '1', runs: 1 } }])
    expect(live.invalidate(['Post:1', 'Query.post'])).toBe(0)
  })
})

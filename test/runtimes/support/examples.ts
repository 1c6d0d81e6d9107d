import assert from 'node:assert/strict'
import { requestMultipart } from '@vinyasa/test-kit'
import { type Plugin, plugins, post } from './plugins.ts'

const live = plugins.find(({ name }) => name === 'live-query')

/** What the examples' own `yoga.js` promises: parts, hits and, but for workers, updates. */
export const ownExample = (isLive: boolean): Plugin => ({
  name: 'own',
  readme: '',
  code: () => undefined,
  async answers(url) {
    if (isLive) await live!.answers(url)
    else await post(url, 'mutation { addTodo(text: "Feed the cat") { id } }')
    const query = '{ todos { id ... @defer(label: "advice") { advice } } }'
    const response = await requestMultipart(url, { body: { query } })
    const [first, ...rest] = (await response.allParts(60_000)).map((part) => part.json())
    assert.deepEqual(first, { data: { todos: [{ id: '1' }, { id: '2' }] }, hasNext: true })
    const later = rest.flatMap(({ incremental }) => incremental.map(({ data }: any) => data))
    assert.deepEqual(later, [{ advice: 'Do it now' }, { advice: 'Do it now' }])
    await post(url, '{ todos { text } }')
    assert.equal((await post(url, '{ todos { text } }')).headers.get('x-cache'), 'HIT')
  },
})

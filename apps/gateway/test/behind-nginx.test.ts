import { describeWithNginx, startNginx } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { startGateway } from './support/gateway.ts'

// nginx keeps an answer back until it is whole, or fills its buffers, unless it says that it is read as it comes.

const PARTS = 'multipart/mixed;subscriptionSpec=1.0, application/json'

describeWithNginx('through nginx with its default buffering', () => {
  it.each([
    ['a live query', 'query @live { now }', 'text/event-stream'],
    ['a subscription', 'subscription { now }', 'text/event-stream'],
    ['a subscription of a client that takes anything', 'subscription { now }', '*/*'],
    ['a live query in parts', 'query @live { now }', PARTS],
    ['a subscription in parts', 'subscription { now }', PARTS],
    ['a response with @defer', '{ now ... @defer { never } }', 'multipart/mixed'],
  ])('%s arrives as it comes', async (_, query, accept) => {
    const { endpoint } = await startGateway({
      typeDefs: 'type Query { now: Int never: Int } type Subscription { now: Int }',
      resolvers: {
        Query: { now: () => 1, never: () => new Promise(() => {}) },
        Subscription: {
          now: {
            async *subscribe() {
              yield { now: 1 }
              await new Promise(() => {})
            },
          },
        },
      },
      liveQuery: { defaults: { enabled: true } },
      defer: 'default',
    })
    const nginx = await startNginx({ location: `proxy_pass ${new URL(endpoint).origin};` })
    onTestFinished(() => nginx[Symbol.asyncDispose]())
    const abort = new AbortController()
    onTestFinished(() => abort.abort())
    const response = await fetch(`http://127.0.0.1:${nginx.port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query }),
      signal: AbortSignal.any([abort.signal, AbortSignal.timeout(10_000)]),
    })
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (text.includes('"now":1')) break
    }
    expect(text).toContain('"now":1')
  })
})

import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { Client as UrqlClient, fetchExchange, gql as urqlGql } from '@urql/core'
import {
  ApolloClient as ApolloClient3,
  gql as gql3,
  HttpLink as HttpLink3,
  InMemoryCache as InMemoryCache3,
} from 'apollo-client-3/core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startWorld, type World } from './world.ts'

const TICKS = 'subscription { ticks }'

type Follow = (url: string, onTick: (tick: number) => void) => () => void

/** Clients over HTTP alone, without a link for sockets, as they are set up in a minute. */
const CLIENTS: Readonly<Record<string, Follow>> = {
  '@apollo/client 4'(url, onTick) {
    const client = new ApolloClient({ link: new HttpLink({ uri: url }), cache: new InMemoryCache() })
    const following = client
      .subscribe<{ ticks: number }>({ query: gql(TICKS) })
      .subscribe(({ data }) => data && onTick(data.ticks))
    return () => following.unsubscribe()
  },
  '@apollo/client 3'(url, onTick) {
    const client = new ApolloClient3({ link: new HttpLink3({ uri: url }), cache: new InMemoryCache3() })
    const following = client
      .subscribe<{ ticks: number }>({ query: gql3(TICKS) })
      .subscribe(({ data }) => data && onTick(data.ticks))
    return () => following.unsubscribe()
  },
  'urql, told to take parts'(url, onTick) {
    const client = new UrqlClient({
      url,
      exchanges: [fetchExchange],
      fetchSubscriptions: true,
      preferGetMethod: false,
      fetchOptions: { headers: { accept: 'multipart/mixed;subscriptionSpec=1.0' } },
    })
    return client
      .subscription<{ ticks: number }>(urqlGql(TICKS), {})
      .subscribe(({ data }) => data && onTick(data.ticks)).unsubscribe
  },
}

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

it.each(Object.entries(CLIENTS))('%s subscribes, and unsubscribing leaves no work', async (_, follow) => {
  const seen: number[] = []
  const stop = follow(world.url, (tick) => seen.push(tick))
  await expect.poll(() => seen.slice(0, 3)).toEqual([1, 2, 3])
  expect(world.streams()).toBe(1)
  stop()
  await expect.poll(() => world.streams()).toBe(0)
})

it('a subscription that is not valid fails at @apollo/client with what is wrong', async () => {
  const client = new ApolloClient({ link: new HttpLink({ uri: world.url }), cache: new InMemoryCache() })
  const first = await new Promise<{ error?: Error }>((resolve) =>
    client.subscribe({ query: gql('subscription { nothing }') }).subscribe(resolve),
  )
  expect(first.error?.message).toContain('Cannot query field "nothing"')
})

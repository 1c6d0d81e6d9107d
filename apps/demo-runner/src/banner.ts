import { examples } from './examples.ts'

export interface Addresses {
  /** Base address of the gateway. */
  readonly gateway: string
  /** host:port */
  readonly users: string
  readonly shop: string
}

/** What is served from where, and three things to try. */
export function formatBanner({ gateway, users, shop }: Addresses): string {
  const deferred = JSON.stringify({ query: examples.defer.query }).replaceAll("'", `'\\''`)
  return `
  Vinyasa is running.

    GraphQL    ${gateway}/graphql            GraphiQL in a browser
    Live       ${gateway.replace(/^http/, 'ws')}/graphql/live         graphql-transport-ws
    Status     ${gateway}/status             backends, cache, live queries, errors
    Health     ${gateway}/health/ready

    users, profiles     from gRPC   demo.users.v1.UserService   ${users}
    products, reviews   from REST   ${shop}

  Three things to try

    1. ${examples.both.title}
         ${examples.both.query}
    2. ${examples.live.title}
         ${examples.live.query}
    3. ${examples.defer.title}
         curl -N ${gateway}/graphql -H 'content-type: application/json' -H 'accept: multipart/mixed' \\
           -d '${deferred}'

  Ctrl-C stops all of it.
`
}

export interface Example {
  readonly title: string
  readonly query: string
}

/** What the banner proposes to try. The end-to-end tests run these very texts. */
export const examples: { readonly both: Example; readonly live: Example; readonly defer: Example } = {
  both: {
    title: 'One query, two backends',
    query:
      '{ users(status: ONLINE, limit: 3) { users { id name reviews { rating text } } } getProduct(id: "1") { name price } }',
  },
  live: {
    title: 'A live query, then mutation { updateUser(id: "1", status: OFFLINE) { id } } in a second tab',
    query: 'query @live { users(status: ONLINE) { totalCount users { id name } } }',
  },
  defer: {
    title: 'A slow field that comes later',
    query: '{ user(id: "1") { name ... @defer { profile { bio } } } }',
  },
}

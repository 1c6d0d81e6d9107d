/** What the backends of posts and users hold, and the checks know: 100 posts of 10 users. */
export interface Post {
  readonly id: string
  readonly title: string
  readonly userId: string
}

export interface User {
  readonly id: string
  readonly name: string
  readonly email: string
}

export const posts: readonly Post[] = Array.from({ length: 100 }, (_, index) => ({
  id: String(index + 1),
  title: `Post number ${index + 1}`,
  userId: String((index % 10) + 1),
}))

export function user(id: string): User {
  return { id, name: `User number ${id}`, email: `user.${id}@example.com` }
}

export const query = '{ posts(limit: 100) { items { id title author { id name email } } } }'

export const answer: object = {
  data: {
    posts: { items: posts.map(({ id, title, userId }) => ({ id, title, author: user(userId) })) },
  },
}

export const typeDefs = `
  type User { id: String! name: String email: String }
  type Post { id: String! title: String author: User }
  type PostList { items: [Post!] }
  type Query { posts(limit: Int): PostList }
`

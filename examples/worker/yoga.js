import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createResponseCache, useResponseCache } from '@vinyasa/response-cache'
import { createSchema, createYoga } from 'graphql-yoga'

const todos = [{ id: '1', text: 'Water the plants' }]

export const yoga = createYoga({
  schema: createSchema({
    typeDefs: `
      type Todo { id: ID! text: String! advice: String! }
      type Query { todos: [Todo!]! }
      type Mutation { addTodo(text: String!): Todo! }
    `,
    resolvers: {
      Query: { todos: () => todos },
      Mutation: {
        addTodo(_, { text }) {
          const todo = { id: String(todos.length + 1), text }
          todos.push(todo)
          return todo
        },
      },
      // Slow on purpose: ask for it with @defer.
      Todo: { advice: () => new Promise((resolve) => setTimeout(resolve, 500, 'Do it now')) },
    },
  }),
  plugins: [useResponseCache(createResponseCache()), useDeferSplitter()],
})

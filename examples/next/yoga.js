import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createInvalidationBus } from '@vinyasa/invalidation'
import { useLiveQuery } from '@vinyasa/live-query'
import { createResponseCache, useResponseCache } from '@vinyasa/response-cache'
import { createSchema, createYoga } from 'graphql-yoga'

const todos = [{ id: '1', text: 'Water the plants' }]
const bus = createInvalidationBus()

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
        async addTodo(_, { text }) {
          const todo = { id: String(todos.length + 1), text }
          todos.push(todo)
          await bus.publish([{ entityType: 'Todo', operation: 'create', entityId: todo.id }])
          return todo
        },
      },
      // Slow on purpose: ask for it with @defer.
      Todo: { advice: () => new Promise((resolve) => setTimeout(resolve, 500, 'Do it now')) },
    },
  }),
  plugins: [
    useResponseCache(createResponseCache({ bus })),
    useDeferSplitter(),
    useLiveQuery({ bus, fields: { todos: {} } }),
  ],
})

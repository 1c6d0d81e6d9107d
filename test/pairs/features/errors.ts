import { constant } from 'fast-check'
import type { Feature, Value } from '../feature.ts'
import { WRONG_MARK } from '../library.ts'
import { FIND } from '../operations.ts'
import type { Run } from '../run.ts'
import { type User, USERS } from '../users.ts'

const during: NonNullable<Value['during']> = async ({ ask }) => {
  await ask(USERS[0] as User, FIND)
  return undefined
}

const messagesOf = ({ sent }: Run): string[] =>
  sent
    .flatMap(({ operations }) => operations)
    .filter(({ operation, answer }) => operation.name === FIND.name && answer.errors?.[0]?.path)
    .map(({ answer }) => answer.errors?.[0]?.message ?? '')

const shown = (name: string, exposeErrors: boolean | string): Value => ({
  name,
  config: () => constant({ grpc: { books: { exposeErrors } } }),
  during,
  *observe(run) {
    const hidden = messagesOf(run).find((message) => !message.includes(WRONG_MARK))
    if (hidden !== undefined) yield `a backend's text is not shown: ${hidden}`
  },
})

export const exposeErrors: Feature = {
  name: 'exposeErrors',
  settings: ['grpc'],
  values: [
    {
      name: 'off',
      during,
      *observe(run) {
        const told = messagesOf(run).find((message) => message.includes(WRONG_MARK))
        if (told !== undefined) yield `a backend's text is shown: ${told}`
      },
    },
    shown('caller', 'caller'),
    shown('on', true),
  ],
}

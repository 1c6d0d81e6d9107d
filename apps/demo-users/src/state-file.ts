import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { type User, type UserEvent, UserEventKind } from './gen/demo/users/v1/users.ts'
import { seedUsers } from './seed.ts'
import type { UserStore } from './user-store.ts'

/** The seed, with every change that the file holds. */
export function readUsers(file: string): User[] {
  const users = new Map(seedUsers().map((user) => [user.id, user]))
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    if (line === '') continue
    const { kind, user } = JSON.parse(line) as UserEvent
    if (!user) continue
    if (kind === UserEventKind.DELETED) users.delete(user.id)
    else users.set(user.id, { ...user, createdAt: user.createdAt && new Date(user.createdAt) })
  }
  return [...users.values()]
}

/** Adds each change to the file, a line of JSON each, before the call that made it is answered. */
export function keepUsers(store: UserStore, file: string): void {
  store.watch((event) => appendFileSync(file, `${JSON.stringify(event)}\n`))
}

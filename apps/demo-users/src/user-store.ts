import { status } from '@grpc/grpc-js'
import { type User, type UserEvent, UserEventKind, UserStatus } from './gen/demo/users/v1/users.ts'
import { rpcError } from './errors.ts'
import { seedUsers } from './seed.ts'

export interface UserChanges {
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly status?: UserStatus | undefined
}

export interface UserStore {
  list(status?: UserStatus): User[]
  get(id: string): User | undefined
  create(user: Required<UserChanges>): User
  update(id: string, changes: UserChanges): User
  delete(id: string): User
  /** Tells every change from now on; the returned function ends it. */
  watch(listener: (event: UserEvent) => void): () => void
}

/** Users in memory. Throws what the RPCs answer: NOT_FOUND, ALREADY_EXISTS, INVALID_ARGUMENT. */
export function createUserStore(
  now: () => Date = () => new Date(),
  initial: readonly User[] = seedUsers(),
): UserStore {
  const users = new Map(initial.map((user) => [user.id, user]))
  const listeners = new Set<(event: UserEvent) => void>()
  let nextId = Math.max(0, ...initial.map(({ id }) => Number(id))) + 1

  function existing(id: string): User {
    const user = users.get(id)
    if (!user) throw rpcError(status.NOT_FOUND, `There is no user "${id}"`)
    return user
  }

  function check({ name, email }: UserChanges, ownId?: string): void {
    if (name?.trim() === '') throw rpcError(status.INVALID_ARGUMENT, 'name must not be empty')
    if (email === undefined) return
    if (!email.includes('@')) throw rpcError(status.INVALID_ARGUMENT, 'email must contain an @')
    for (const user of users.values()) {
      if (user.email === email && user.id !== ownId) {
        throw rpcError(status.ALREADY_EXISTS, `The e-mail address of user "${user.id}" cannot be used twice`)
      }
    }
  }

  function announce(kind: UserEventKind, user: User): void {
    for (const listener of listeners) listener({ kind, user, at: now() })
  }

  return {
    list(wanted = UserStatus.STATUS_UNSPECIFIED) {
      const all = [...users.values()]
      return wanted === UserStatus.STATUS_UNSPECIFIED ? all : all.filter(({ status }) => status === wanted)
    },
    get: (id) => users.get(id),
    create({ name, email, status: wanted }) {
      check({ name, email })
      const online = wanted === UserStatus.STATUS_UNSPECIFIED ? UserStatus.OFFLINE : wanted
      const user: User = { id: String(nextId++), name, email, status: online, createdAt: now() }
      users.set(user.id, user)
      announce(UserEventKind.CREATED, user)
      return user
    },
    update(id, changes) {
      const before = existing(id)
      check(changes, id)
      const user: User = {
        ...before,
        name: changes.name ?? before.name,
        email: changes.email ?? before.email,
        status: changes.status ?? before.status,
      }
      users.set(id, user)
      announce(UserEventKind.UPDATED, user)
      return user
    },
    delete(id) {
      const user = existing(id)
      users.delete(id)
      announce(UserEventKind.DELETED, user)
      return user
    },
    watch(listener) {
      // Wrapped so that one function watching twice is two watchers.
      const entry = (event: UserEvent): void => listener(event)
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
  }
}

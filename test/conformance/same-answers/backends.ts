import { setImmediate, setTimeout } from 'node:timers/promises'
import { GrpcCallError, type Transport } from '@vinyasa/grpc-transport'
import { parseProtos } from '@vinyasa/test-kit'
import { type Data, isThing, type Outcome, type Row, type Situation } from './data.ts'

// Both backends in this process: they reply in turns, in the order that is drawn, when nobody asks for anything any more.

export const PROTO = `syntax = "proto3"; package p;
enum Kind { NONE = 0; RED = 1; BLUE = 2; }
service Users {
  rpc GetUser(Id) returns (User);
  rpc GetSure(Id) returns (User);
  rpc ListUsers(Ids) returns (UserList);
  rpc Crowd(Ids) returns (UserList);
  rpc Find(Id) returns (Found);
  rpc One(Id) returns (User);
  rpc ById(Ids) returns (UserList);
  rpc Alone(Ids) returns (UserList);
  rpc ByKind(Kinds) returns (UserList);
  rpc Mates(Kinds) returns (UserList);
  rpc ByNumber(Numbers) returns (UserList);
  rpc SetUser(Change) returns (User);
}
message Id { string id = 1; }
message Ids { repeated string ids = 1; }
message Kinds { repeated Kind kinds = 1; }
message Numbers { repeated int64 numbers = 1; }
message Change { string id = 1; string name = 2; }
message Place { string city = 1; string user_id = 2; }
message Note { string id = 1; string user_id = 2; }
message Badge { string id = 1; string label = 2; }
message Found { oneof what { User user = 1; Note note = 2; } string id = 3; }
message User {
  string id = 1; string name = 2; optional string item_id = 3; int64 number = 4; Kind kind = 5;
  repeated string tags = 6; User boss = 7; oneof contact { string mail = 8; Place place = 9; }
  Badge badge = 10;
}
message UserList { repeated User users = 1; }`

/** Data that mutations change. */
export type Held = { -readonly [Part in keyof Data]: Data[Part] }

/** A call, and what came of it. */
export interface Made {
  /** With the arguments that are no keys. */
  readonly name: string
  readonly caller: string
  readonly keys: readonly string[]
  readonly outcome: Outcome
}

let situation: Situation
let held: Held
let now = 0
let due: { readonly at: number; readonly answer: () => void }[] = []
let counts = new Map<string, number>()
export const made: Made[] = []

export function holding({ data }: Situation): Held {
  return structuredClone(data) as Held
}

/** What the backends hold and do from now on. */
export function begin(given: Situation): void {
  situation = given
  held = holding(given)
  counts = new Map()
  made.length = 0
}

/** A change that no server is asked for. */
export interface Elsewhere {
  readonly type: 'User' | 'Item' | 'Badge'
  readonly id: string
  readonly name: string
}

export function changeIn(data: Held, { type, id, name }: Elsewhere): void {
  if (type === 'User') usersFor(data, 'setUser', [id], '', name)
  else if (type === 'Badge') data.users = data.users.map((user) => labelled(user, id, name))
  else thingsFor(data, 'setItem', [id], undefined, name)
}

/** Everybody who has a badge has it with its new label. */
function labelled(user: Row, id: string, label: string): Row {
  const { badge, boss } = user as Row & { readonly badge?: Row; readonly boss?: Row }
  return {
    ...user,
    ...(badge?.id === id && { badge: { id, label } }),
    ...(boss && { boss: labelled(boss, id, label) }),
  }
}

/** Somebody else changes what the backends hold. */
export function changeElsewhere(change: Elsewhere): void {
  changeIn(held, change)
}

/** Makes a call: finds what is asked for at once, and gives it when its turns are over. Undefined: there is none. */
export async function called<Found>(
  { name, caller, keys }: Omit<Made, 'outcome'>,
  find: (held: Held) => Found | undefined,
): Promise<{ readonly outcome: Outcome; readonly found: Found | undefined }> {
  const [plain = ''] = name.split(' ')
  const count = counts.get(plain) ?? 0
  counts.set(plain, count + 1)
  const fault = situation.faults.find(
    (one) =>
      one.name === plain &&
      (one.nth === undefined || one.nth === count) &&
      (one.key === undefined || keys.includes(one.key)),
  )
  const found = fault ? undefined : find(held)
  const outcome = fault?.outcome ?? (found === undefined ? 'missing' : 'answered')
  made.push({ name, caller, keys, outcome })
  let hash = 0
  for (const character of `${name} ${keys.join()}`) hash = (hash * 31 + character.charCodeAt(0)) % 65_521
  const at = now + 1 + (situation.delays[hash % situation.delays.length] ?? 0)
  await new Promise<void>((answer) => void due.push({ at, answer }))
  return { outcome, found }
}

/** Lets time go by until a promise is settled, and all calls are answered. */
export async function inTurns<T>(pending: Promise<T>): Promise<T> {
  let isSettled = false
  void pending.then(
    () => (isSettled = true),
    () => (isSettled = true),
  )
  for (now = 0; ;) {
    for (let quiet = 0, seen = -1; quiet < 6; quiet++) {
      if (seen !== made.length) quiet = 0
      seen = made.length
      await setImmediate()
    }
    if (due.length === 0 && isSettled) return pending
    // Something waits for a timer.
    if (due.length === 0) await setTimeout(1)
    now = Math.min(...due.map(({ at }) => at))
    const ready = due.filter(({ at }) => at <= now)
    due = due.filter(({ at }) => at > now)
    for (const { answer } of ready) answer()
  }
}

const NAMES: Readonly<Record<string, string>> = {
  GetUser: 'user',
  GetSure: 'sureUser',
  ListUsers: 'users',
  Crowd: 'crowd',
  Find: 'find',
  One: 'one',
  ById: 'byId',
  Alone: 'alone',
  ByKind: 'byKind',
  Mates: 'mates',
  ByNumber: 'byNumber',
  SetUser: 'setUser',
}

/** Users as somebody is shown them. */
export function shown(user: Row, caller: string): Row {
  const boss = user['boss'] as Row | undefined
  return { ...user, name: `${String(user['name'])}@${caller}`, ...(boss && { boss: shown(boss, caller) }) }
}

/** What the gRPC service answers with; undefined: there is none. */
export function usersFor(
  held: Held,
  name: string,
  asked: readonly unknown[],
  caller: string,
  to?: unknown,
): Record<string, unknown> | undefined {
  const { users } = held
  const one = users.find(({ id }) => asked.includes(id))
  const own = one && shown(one, caller)
  const of = (found: readonly Row[]) => ({ users: found.map((user) => shown(user, caller)) })
  switch (name) {
    case 'user':
    case 'sureUser':
    case 'one':
      return own
    case 'users':
    case 'crowd':
    case 'alone':
      return of(users.filter(({ id }) => asked.includes(id)))
    // More than it is asked for, and in no order of the keys.
    case 'byId':
      return of(users)
    case 'byKind':
    case 'mates':
      return of(users.filter(({ kind }) => asked.includes(kind)))
    case 'byNumber':
      return of(users.filter((user) => asked.includes(user['number'])))
    case 'find':
      return own
        ? { id: own.id, user: own }
        : { id: asked[0] ?? '', note: { id: asked[0] ?? '', userId: 'a' } }
    default:
      if (!one) return undefined
      held.users = users.map((user) => (user.id === one.id ? { ...user, name: to } : user))
      return shown({ ...one, name: to }, caller)
  }
}

export async function createUserBackend(): Promise<() => Transport> {
  const root = await parseProtos(PROTO)
  const service = root.lookupService('p.Users')

  return () => ({
    async unary({ path, metadata }, bytes) {
      const method = service.methods[path.slice('/p.Users/'.length)]
      const { resolvedRequestType: input, resolvedResponseType: output } = method ?? {}
      if (!method || !input || !output) throw new Error(`there is no ${path}`)
      const request = input.toObject(input.decode(bytes), { longs: String, enums: String })
      const name = NAMES[method.name] as string
      const { id, ids = [], kinds = [], numbers = [] } = request
      const keys = [...(id ? [id] : []), ...ids, ...kinds, ...numbers].toSorted() as string[]
      const caller = String(metadata.find(([header]) => header === 'x-user')?.[1])
      const { outcome, found } = await called({ name, caller, keys }, (data) =>
        usersFor(data, name, keys, caller, request['name'] ?? ''),
      )
      if (outcome !== 'answered')
        throw new GrpcCallError(outcome === 'broken' ? 'INTERNAL' : 'NOT_FOUND', `no ${keys.join()}`)
      return output.encode(output.fromObject(found as object)).finish()
    },
    stream: () => {
      throw new Error('nothing streams')
    },
    close() {},
  })
}

interface RestRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Things as somebody is shown them. */
export function shownThing(thing: Row | null, caller: string): Row | null {
  if (!thing || typeof thing['name'] !== 'string') return thing
  return { ...thing, name: `${thing['name']}@${caller}` }
}

/** The first of each owner: what is asked for in one request does not depend on what else is. */
export function limited(things: readonly Row[], limit: number | undefined): readonly Row[] {
  if (limit === undefined) return things
  const counts = new Map<unknown, number>()
  return things.filter(({ ownerId }) => {
    const count = (counts.get(ownerId) ?? 0) + 1
    counts.set(ownerId, count)
    return count <= limit
  })
}

export const restTransport: Readonly<Record<'send' | 'close', (request: RestRequest) => Promise<object>>> = {
  async send({ path, headers, body }) {
    const { pathname, searchParams } = new URL(path, 'http://rest')
    const [, name = '', id] = pathname.split('/')
    const { id: changed, name: to } = name === 'setItem' ? JSON.parse(String(body)) : ({} as any)
    const others = [...searchParams]
      .filter(([key]) => key === 'limit' || key === 'tint')
      .map(([, value]) => value)
    const asked = [...searchParams]
      .filter(([key]) => key !== 'limit' && key !== 'tint')
      .map(([, value]) => value)
    const own = id === undefined ? changed : decodeURIComponent(id)
    const keys = [...(own === undefined ? [] : [own]), ...asked].toSorted()
    const limit = searchParams.get('limit')
    const caller = headers['x-user'] ?? ''
    const { outcome, found } = await called({ name: [name, ...others].join(' '), caller, keys }, (data) => {
      const things = thingsFor(data, name, keys, limit === null ? undefined : Number(limit), to)
      return Array.isArray(things)
        ? things.map((one) => shownThing(one, caller))
        : things && shownThing(things, caller)
    })
    return {
      status: outcome === 'broken' ? 500 : outcome === 'missing' ? 404 : 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(found ?? {})),
    }
  },
  close: () => Promise.resolve({}),
}

/** What the REST API answers with; undefined: there is none. */
export function thingsFor(
  held: Held,
  name: string,
  asked: readonly string[],
  limit: number | undefined,
  to: string | null | undefined,
): Row | (Row | null)[] | undefined {
  const all = held.things
  const items = all.filter(isThing).filter(({ type }) => type === 'item')
  const has = (value: unknown): boolean => asked.includes(String(value))
  switch (name) {
    case 'item':
    case 'sure':
    case 'itemOf':
      return items.find(({ id }) => has(id))
    case 'pair':
      return items.find(({ id, ownerId }) => has(id) && ownerId !== null && has(ownerId))
    case 'items':
      return [
        ...limited(
          items.filter(({ id }) => has(id)),
          limit,
        ),
      ]
    case 'things':
      return all.filter((thing) => thing === null || has(thing.id))
    case 'held':
      return all.filter(isThing)
    case 'owned':
      return [
        ...limited(
          items.filter(({ ownerId }) => ownerId !== null && has(ownerId)),
          limit,
        ),
      ]
    case 'numbered':
      return items.filter((item) => item['number'] !== null && has(item['number']))
    case 'setItem': {
      const before = items.find(({ id }) => has(id))
      if (!before) return undefined
      held.things = all.map((thing) =>
        thing?.['type'] === 'item' && has(thing.id) ? { ...thing, name: to ?? null } : thing,
      )
      return { ...before, name: to ?? null }
    }
    // Batches: all there is, nothing where there is nothing of.
    default:
      return all.filter((thing) => thing === null || thing['type'] === 'item')
  }
}

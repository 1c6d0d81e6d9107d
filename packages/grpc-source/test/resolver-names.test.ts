import { describe, expect, it } from 'vitest'
import { backend, run, source, yogaWith } from './harness.ts'

/** A file with a service that lists animals of its own, and one that may resolve their owners. */
function proto(
  name: string,
  { owner = 'Owner owner = 1', service = name, returns = 'Owner', pluck = '' } = {},
): string {
  const animal = name.toLowerCase()
  const response = pluck === '' ? '' : ` response { pluck: "${pluck}" }`
  return `
syntax = "proto3";
package ${animal}s;
import "graphql.proto";
service ${name}s { rpc List${name}s(In) returns (${name}) { option (graphql.schema) = { type: QUERY name: "${animal}" }; } ${service === name ? '' : '}\nservice Others {'}
  rpc GetOwner(In) returns (${returns}) { option (graphql.schema) = { type: RESOLVER name: "owner"${response} }; }
}
message In { string owner_id = 1; }
message ${name} { string owner_id = 2; ${owner} [(graphql.field).resolver = "owner"]; }
message Owner { string name = 1; }
message Owners { repeated Owner owners = 1; Owner owner = 2; }`
}

async function see(protoText: Readonly<Record<string, string>>, query: string): Promise<unknown> {
  const handlers: Record<string, () => object> = {}
  for (const text of Object.values(protoText)) {
    const [, inPackage] = /package (\w+);/.exec(text) ?? []
    const [, name] = /rpc List(\w+)s/.exec(text) ?? []
    const [, service] = /service (\w+) \{\s*rpc GetOwner/.exec(text) ?? [undefined, `${name}s`]
    handlers[`${inPackage}.${name}s/List${name}s`] = () => ({ ownerId: '1' })
    if (text.includes('rpc GetOwner'))
      handlers[`${inPackage}.${service}/GetOwner`] = () => ({
        name: `owner of a ${name}`,
        owner: { name: 'plucked' },
      })
  }
  const { address } = await backend(protoText, handlers)
  return run(yogaWith(await source({ protoText, endpoint: address })), query)
}

const QUERY = '{ cat { owner { name } } dog { owner { name } } }'
const OWN = {
  data: { cat: { owner: { name: 'owner of a Cat' } }, dog: { owner: { name: 'owner of a Dog' } } },
}

describe('(graphql.field).resolver', () => {
  it.each(['cat dog', 'dog cat'])(
    'calls the method of the own service, whatever comes first: %s',
    async (order) => {
      const files = { cat: proto('Cat'), dog: proto('Dog') }
      const protoText = Object.fromEntries(
        order.split(' ').map((name, at) => [`${at}-${name}.proto`, files[name as 'cat' | 'dog']]),
      )
      expect(await see(protoText, QUERY)).toEqual(OWN)
    },
  )

  it('calls the method of the own package if the own service has none', async () => {
    const protoText = {
      'a.proto': proto('Cat', { service: 'Others' }),
      'b.proto': proto('Dog', { service: 'Others' }),
    }
    expect(await see(protoText, QUERY)).toEqual(OWN)
  })

  it('calls the only method of that name, also of another package', async () => {
    const dog = `
syntax = "proto3";
package dogs;
import "graphql.proto";
import "a.proto";
service Dogs { rpc ListDogs(cats.In) returns (Dog) { option (graphql.schema) = { type: QUERY name: "dog" }; } }
message Dog { string owner_id = 2; cats.Owner owner = 1 [(graphql.field).resolver = "owner"]; }`
    expect(await see({ 'a.proto': proto('Cat'), 'b.proto': dog }, '{ dog { owner { name } } }')).toEqual({
      data: { dog: { owner: { name: 'owner of a Cat' } } },
    })
  })

  it('refuses two methods that are equally near, and names both', async () => {
    const dog = `
syntax = "proto3";
package birds;
import "graphql.proto";
import "a.proto";
service Birds { rpc ListBirds(cats.In) returns (Bird) { option (graphql.schema) = { type: QUERY name: "bird" }; } }
message Bird { string owner_id = 2; cats.Owner owner = 1 [(graphql.field).resolver = "owner"]; }`
    const protoText = { 'a.proto': proto('Cat'), 'b.proto': proto('Dog'), 'c.proto': dog }
    await expect(source({ protoText, endpoint: '127.0.0.1:1' })).rejects.toThrow(
      /birds\.Bird\.owner: .*both cats\.Cats\.GetOwner \(a\.proto\) and dogs\.Dogs\.GetOwner \(b\.proto\) have that name/,
    )
  })

  it.each([
    ['another message', { returns: 'Cat' }, 'returns cats.Cat, but the field is declared as cats.Owner'],
    [
      'a message around it',
      { returns: 'Owners' },
      'returns cats.Owners, but the field is declared as cats.Owner',
    ],
    [
      'a list',
      { returns: 'Owners', pluck: 'owners' },
      'returns a list of cats.Owner, but the field is declared as cats.Owner',
    ],
    [
      'one for a list',
      { owner: 'repeated Owner owner = 1' },
      'returns cats.Owner, but the field is declared as a list of cats.Owner',
    ],
  ])('refuses a method that returns %s', async (_what, options, message) => {
    const protoText = { 'a.proto': proto('Cat', options) }
    await expect(source({ protoText, endpoint: '127.0.0.1:1' })).rejects.toThrow(message)
  })

  it('takes a message that the method plucks', async () => {
    const protoText = { 'a.proto': proto('Cat', { returns: 'Owners', pluck: 'owner' }) }
    expect(await see(protoText, '{ cat { owner { name } } }')).toEqual({
      data: { cat: { owner: { name: 'plucked' } } },
    })
  })
})

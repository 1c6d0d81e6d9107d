import { freePort } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { backend, describeTransports } from './harness.ts'
import { USERS_PROTO } from './users-proto.ts'

const HEALTH = `
syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse { enum ServingStatus { UNKNOWN = 0; SERVING = 1; NOT_SERVING = 2; } ServingStatus status = 1; }
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }
`

describeTransports('health', (source) => {
  it('reads grpc.health.v1 of every endpoint', async () => {
    const up = await backend(
      { 'health.proto': HEALTH },
      { 'grpc.health.v1.Health/Check': () => ({ status: 'SERVING' }) },
    )
    const grpc = await source({ protoText: { 'users.proto': USERS_PROTO }, endpoint: up.address })
    expect(await grpc.health()).toEqual({
      status: 'SERVING',
      endpoints: [{ address: up.address, status: 'SERVING' }],
    })
    up.handle('grpc.health.v1.Health/Check', () => ({ status: 'NOT_SERVING' }))
    expect((await grpc.health()).status).toBe('NOT_SERVING')
  })

  it('counts a server without the health service as serving, one that is away as not', async () => {
    const up = await backend({ 'users.proto': USERS_PROTO }, {})
    expect(
      (await (await source({ protoText: { 'users.proto': USERS_PROTO }, endpoint: up.address })).health())
        .status,
    ).toBe('SERVING')
    const away = await source({
      protoText: { 'users.proto': USERS_PROTO },
      endpoint: `127.0.0.1:${await freePort()}`,
    })
    expect(await away.health()).toMatchObject({
      status: 'NOT_SERVING',
      endpoints: [{ reason: 'UNAVAILABLE' }],
    })
  })
})

// The config of the gateway that live callers share.
const { CALLERS_BACKEND: baseUrl, CALLERS_FORWARD: forward, CALLERS_SECRET: secret } = process.env

export default {
  log: { level: 'silent' },
  server: { maxConnections: 15_000 },
  auth: { jwt: { issuers: [{ issuer: 'bench', audience: 'bench', secret }], required: true } },
  invalidate: { secret },
  liveQuery: {
    maxSubscriptions: 15_000,
    matchEntityId: true,
    defaults: { enabled: true, throttleMs: 0 },
  },
  rest: {
    items: {
      baseUrl,
      cacheSize: 0,
      ...(forward && { forwardHeaders: ['authorization'] }),
      endpoints: [
        {
          name: 'item',
          path: '/items/{id}',
          args: { id: 'ID!' },
          responseSchema: { typeName: 'Item', fields: { id: 'id!', value: 'int!', caller: 'string!' } },
        },
      ],
    },
  },
}

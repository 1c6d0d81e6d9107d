import { yoga } from './yoga.js'

// Bun ends a connection that is silent for 10 s: live queries may be.
Bun.serve({ port: Number(process.env.PORT ?? 4000), idleTimeout: 0, fetch: (request) => yoga.fetch(request) })

import { yoga } from './yoga.js'

Deno.serve({ port: Number(Deno.env.get('PORT') ?? 4000) }, (request) => yoga.fetch(request))

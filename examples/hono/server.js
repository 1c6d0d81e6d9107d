import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { yoga } from './yoga.js'

const app = new Hono()
app.all('/graphql/*', ({ req }) => yoga.fetch(req.raw))
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 4000) })

import middie from '@fastify/middie'
import fastify from 'fastify'
import { yoga } from './yoga.js'

const app = fastify()
await app.register(middie)
app.use('/graphql', yoga)
await app.listen({ port: Number(process.env.PORT ?? 4000) })

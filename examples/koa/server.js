import Koa from 'koa'
import { yoga } from './yoga.js'

const app = new Koa()
app.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/graphql')) return next()
  // The answer is written by Yoga, not by Koa.
  ctx.respond = false
  return yoga(ctx.req, ctx.res)
})
app.listen(Number(process.env.PORT ?? 4000))

import express from 'express'
import { yoga } from './yoga.js'

const app = express()
app.use(express.json())
app.use('/graphql', yoga)
app.listen(Number(process.env.PORT ?? 4000))

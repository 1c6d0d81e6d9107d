import 'reflect-metadata'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { yoga } from './yoga.js'

class AppModule {}
Module({})(AppModule)

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
app.use('/graphql', yoga)
await app.listen(Number(process.env.PORT ?? 4000))

import { startShopServer } from './server.ts'

const { HOST = '127.0.0.1', PORT = '4010', STATE_FILE } = process.env

try {
  const server = await startShopServer({ host: HOST, port: Number(PORT), stateFile: STATE_FILE })
  console.log(`demo-shop ready: ${server.url}`)

  const stop = async (): Promise<void> => {
    await server.close()
    process.exit(0)
  }
  process.once('SIGTERM', () => void stop())
  process.once('SIGINT', () => void stop())
} catch (error) {
  console.error(`demo-shop cannot listen on ${HOST}:${PORT}: ${(error as Error).message}`)
  process.exitCode = 1
}

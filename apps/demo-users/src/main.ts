import { startUsersServer } from './server.ts'

const { HOST = '127.0.0.1', PORT = '50051', PROFILE_DELAY_MS = '300', STATE_FILE } = process.env

try {
  const server = await startUsersServer({
    host: HOST,
    port: Number(PORT),
    profileDelayMs: Number(PROFILE_DELAY_MS),
    stateFile: STATE_FILE,
  })
  console.log(`demo-users ready: grpc://${server.host}:${server.port}`)

  const stop = async (): Promise<void> => {
    await server.close()
    process.exit(0)
  }
  process.once('SIGTERM', () => void stop())
  process.once('SIGINT', () => void stop())
} catch (error) {
  console.error(`demo-users cannot listen on ${HOST}:${PORT}: ${(error as Error).message}`)
  process.exitCode = 1
}

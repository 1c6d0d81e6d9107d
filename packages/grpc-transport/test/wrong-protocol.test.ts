import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createSecureServer, createServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHttp2Transport, type TlsOptions } from '../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'grpc-tls-'))
const request =
  'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'
const names = ['-addext', 'subjectAltName=DNS:localhost']
const [key, cert] = certificate('own')
const [strangeKey, strangeCert] = certificate('strange')
rmSync(folder, { recursive: true })

function certificate(name: string): readonly [key: Buffer, cert: Buffer] {
  const files = ['key', 'cert'].map((kind) => join(folder, `${name}-${kind}.pem`)) as [string, string]
  const command = [...request.split(' '), ...names, '-keyout', files[0], '-out', files[1]]
  execFileSync('openssl', command, { stdio: 'pipe' })
  return [readFileSync(files[0]), readFileSync(files[1])]
}

/** A server that asks who calls. */
function mutual(maxVersion: 'TLSv1.2' | 'TLSv1.3'): Server {
  const asks = { requestCert: true, rejectUnauthorized: true, ca: cert, maxVersion }
  return createSecureServer({ key, cert, ...asks }) as unknown as Server
}

const CALL = { path: '/w.S/Get', metadata: [], timeoutMs: 5_000, signal: undefined }
const page = (_: unknown, response: { end(text: string): void }): void => response.end('a page')

/** Servers by what they speak. */
const SERVERS = {
  'HTTP/2 over TLS': () => createSecureServer({ key, cert }) as unknown as Server,
  'HTTP/1.1 over TLS': () => createHttpsServer({ key, cert }, page) as unknown as Server,
  'HTTP/2': () => createHttp2Server() as unknown as Server,
  'HTTP/1.1': () => createHttpServer(page) as unknown as Server,
  'an HTTP/1.1 page to whatever comes': () =>
    createTcpServer((socket) =>
      socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    ),
  'HTTP/2 to known certificates, over TLS 1.3': () => mutual('TLSv1.3'),
  'HTTP/2 to known certificates, over TLS 1.2': () => mutual('TLSv1.2'),
  'nothing, and closes': () => createTcpServer((socket) => socket.on('error', () => {}).end()),
  'nothing, and closes once asked': () =>
    createTcpServer((socket) => socket.on('error', () => {}).once('data', () => socket.destroy())),
}

async function failureOf(kind: keyof typeof SERVERS, tls: TlsOptions | undefined): Promise<string> {
  const server = SERVERS[kind]()
  server.on('sessionError', () => {}).on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport = createHttp2Transport({ address, tls, channel: {} })
  onTestFinished(() => transport.close())
  const error = await transport.unary(CALL, Buffer.from('ask')).catch((caught: unknown) => caught)
  expect(error).toMatchObject({ status: 'UNAVAILABLE', wasSent: false })
  return (error as Error).message
}

describe('a server that speaks something else is named as that', () => {
  it.each([
    ['HTTP/2 over TLS', '(if the server expects TLS, |the server uses TLS; )write the endpoint as "https://'],
    [
      'HTTP/1.1 over TLS',
      'the server (uses TLS|responded with HTTP/1.x)|if the server expects TLS, write the endpoint as "https://',
    ],
    ['HTTP/1.1', 'responded with HTTP/1.x .* instead of gRPC|if the server expects TLS'],
    [
      'an HTTP/1.1 page to whatever comes',
      'responded with HTTP/1.x \\("HTTP/1.1 400 Bad Request"\\) instead of gRPC',
    ],
    [
      'nothing, and closes',
      'closed the connection without a response; if the server expects TLS, write the endpoint as "https://',
    ],
    ['nothing, and closes once asked', 'closed the connection without a response; if the server expects TLS'],
  ] as const)('in plain text, to %s', async (kind, message) => {
    expect(await failureOf(kind, undefined)).toMatch(new RegExp(message))
  })

  it('a port where nobody listens is not taken for one that expects TLS', async () => {
    const server = createTcpServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    await new Promise((resolve) => server.close(resolve))
    const transport = createHttp2Transport({ address, tls: undefined, channel: {} })
    onTestFinished(() => transport.close())
    const error = await transport.unary(CALL, Buffer.from('ask')).catch((caught: unknown) => caught)
    expect((error as Error).message).toContain('ECONNREFUSED')
    expect((error as Error).message).not.toContain('TLS')
  })

  it.each([
    ['HTTP/2', '(does not use TLS; |if the server expects plain text, )write the endpoint as "http://'],
    ['HTTP/1.1', 'does not use TLS; write the endpoint as "http://'],
    ['an HTTP/1.1 page to whatever comes', 'does not use TLS; write the endpoint as "http://'],
    [
      'nothing, and closes',
      'aborted the TLS handshake; if the server expects plain text, write the endpoint as "http://',
    ],
    ['nothing, and closes once asked', 'aborted the TLS handshake; if the server expects plain text'],
    ['HTTP/1.1 over TLS', 'did not select HTTP/2 \\(ALPN\\)|alert'],
    ['HTTP/2 over TLS', 'Hostname/IP does not match'],
  ] as const)('over TLS, to %s', async (kind, message) => {
    expect(await failureOf(kind, { ca: cert })).toMatch(new RegExp(message))
  })
})

describe('a server that wants a client certificate says so', () => {
  it.each([
    [
      'HTTP/2 to known certificates, over TLS 1.3',
      'the server requires a client certificate; set tls.cert and tls.key',
    ],
    [
      'HTTP/2 to known certificates, over TLS 1.2',
      'if the server requires a client certificate, set tls.cert and tls.key',
    ],
  ] as const)('to none: %s', async (kind, message) => {
    const failure = await failureOf(kind, { ca: cert, serverName: 'localhost' })
    expect(failure).toContain(message)
    expect(failure).not.toContain('SSL routines')
  })

  it.each(['1.3', '1.2'] as const)('to one that it does not know: TLS %s', async (version) => {
    const tls = { ca: cert, cert: strangeCert, key: strangeKey, serverName: 'localhost' }
    const failure = await failureOf(`HTTP/2 to known certificates, over TLS ${version}`, tls)
    expect(failure).toContain('tls.cert')
  })
})

describe('certificates that cannot be read stop the start', () => {
  const damaged = cert
    .toString()
    .replace(/[A-Za-z]/g, 'x')
    .replaceAll(/x{5} x{11}/g, 'BEGIN CERTIFICATE')
  it.each<[string, TlsOptions, string]>([
    ['a path', { ca: 'certs/ca.pem' }, 'tls.ca contains no certificate'],
    ['nothing', { ca: '' }, 'tls.ca contains no certificate'],
    ['bytes of a key', { ca: key }, 'tls.ca contains no certificate'],
    [
      'a damaged one among good ones',
      { ca: `${cert}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----` },
      'certificate 2 of tls.ca is not a valid X.509 certificate',
    ],
    ['text that is none', { ca: damaged }, 'tls.ca'],
    ['a key of another', { cert, key: 'nope' }, 'are invalid'],
  ])('%s', (_, tls, message) => {
    expect(() => createHttp2Transport({ address: 'localhost:1', tls, channel: {} })).toThrow(
      new RegExp(`TLS options of the endpoint "localhost:1".*${message}`),
    )
  })

  it('several in one text are taken', () => {
    createHttp2Transport({ address: 'localhost:1', tls: { ca: `${cert}${cert}` }, channel: {} }).close()
    expect(() =>
      createHttp2Transport({ address: 'localhost:1', tls: { ca: Buffer.from(cert) }, channel: {} }).close(),
    ).not.toThrow()
  })
})

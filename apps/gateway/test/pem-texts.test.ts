import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate } from '@vinyasa/test-kit'
import { afterAll, expect, it } from 'vitest'
import { withTlsTexts } from '../src/sources/grpc/grpc.ts'

const folder = mkdtempSync(join(tmpdir(), 'vinyasa-pem-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const { cert, certFile, keyFile } = makeCertificate(folder)
const key = readFileSync(keyFile, 'utf8')

const read = async (tls: object): Promise<unknown> =>
  (await withTlsTexts({ endpoint: 'a:1', tls } as never, folder)).tls

it.each([
  ['texts', { cert, key }],
  ['files', { cert: certFile, key: keyFile }],
  ['bytes', { cert: Buffer.from(cert), key: Buffer.from(key) }],
  ['bytes of a certificate beside the file of its key', { cert: Buffer.from(cert), key: keyFile }],
])('takes a certificate and its key as %s', async (_, given) => {
  expect(await read({ ...given, ca: '', serverName: 'a' })).toEqual({ cert, key, serverName: 'a' })
})

it('takes a certificate by each name that OpenSSL gives it', async () => {
  const ca = cert.replaceAll(' CERTIFICATE', ' X509 CERTIFICATE')
  expect(await read({ ca })).toEqual({ ca })
})

it.each([
  ['a key alone', { key: Buffer.from(key) }, 'tls.key: cert and key must be set together; set cert too'],
  ['bytes that are no PEM', { ca: Buffer.of(1, 2) }, 'tls.ca: the text contains no certificate'],
  ['a key as a certificate', { ca: key }, 'tls.ca: the text contains no certificate'],
])('refuses %s', async (_, given, message) => {
  await expect(read(given)).rejects.toThrow(message)
})

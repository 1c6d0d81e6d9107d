import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** In PEM, and the files that hold it. It is its own authority, which nobody else trusts. */
export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly certFile: string
  readonly keyFile: string
}

/** Makes a certificate for the names given, by default those of this machine, and its key in a folder. */
export function makeCertificate(folder: string, names = 'IP:127.0.0.1,DNS:localhost'): Certificate {
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test'
  const where = ['-addext', `subjectAltName=${names}`, '-keyout', keyFile, '-out', certFile]
  execFileSync('openssl', [...request.split(' '), ...where], { stdio: 'ignore' })
  return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8'), certFile, keyFile }
}

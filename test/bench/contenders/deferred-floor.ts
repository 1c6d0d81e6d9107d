import { createServer } from 'node:http'
import { serveProgram } from '../src/serve-program.ts'

// What two parts cost in node:http when both are ready: the heads of the gateway's answers, and nothing else.

const id = ['x-request-id', '0f8fad5b-d9cb-469f-a165-70867728950e']
const partHead = 'Content-Type: application/json; charset=utf-8\r\n\r\n'
const first = `\r\n---\r\n${partHead}{"data":{"hello":"world"},"hasNext":true}\r\n---\r\n`
const rest = `${partHead}{"incremental":[{"data":{"late":"world"},"path":[]}],"hasNext":false}\r\n-----\r\n`
const multipart = [
  'content-type',
  'multipart/mixed; boundary="-"; deferSpec=20220824',
  'cache-control',
  'no-cache, no-store, no-transform',
  'x-accel-buffering',
  'no',
  'incremental',
  '?1',
  'vary',
  'Accept, Origin',
]

serveProgram(
  createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      if (body.includes('@defer')) {
        response.writeHead(200, 'OK', [...multipart, ...id])
        response.write(first)
        setImmediate(() => response.end(rest))
        return
      }
      const text = JSON.stringify({
        data: { hello: 'world', ...(body.includes('late') && { late: 'world' }) },
      })
      const json = ['content-type', 'application/json; charset=utf-8', 'content-length', String(text.length)]
      response.writeHead(200, 'OK', [...json, 'vary', 'Origin', ...id])
      response.end(text)
    })
  }),
)

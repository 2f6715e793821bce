import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type S3Server = AsyncDisposable & {
  endpoint: string
  objects: Map<string, Buffer>
  /** Number of next requests to reject, and the response to them. */
  refusals: number
  refusal: { status: number; code: string }
}

type Keys = { accessKey: string; secretKey: string; region: string }

/** Starts an S3-compatible server in memory with PUT and GET, which checks the signature of each request and body. */
export async function startS3Server(keys: Keys, bucket: string): Promise<S3Server> {
  const objects = new Map<string, Buffer>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const answer = (status: number, bytes: Buffer | string = '') => response.writeHead(status).end(bytes)
    if (storage.refusals > 0) {
      storage.refusals -= 1
      return answer(storage.refusal.status, `<Error><Code>${storage.refusal.code}</Code></Error>`)
    }
    const problem = signatureProblem(request, body, keys)
    if (problem) return answer(403, `<Error><Code>${problem}</Code></Error>`)
    const path = decodeURIComponent(request.url ?? '')
    if (!path.startsWith(`/${bucket}/`)) return answer(404, '<Error><Code>NoSuchBucket</Code></Error>')
    if (request.method === 'PUT') objects.set(path, body)
    const found = objects.get(path)
    if (!found) return answer(404, '<Error><Code>NoSuchKey</Code></Error>')
    return answer(200, request.method === 'PUT' ? '' : found)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const storage: S3Server = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    refusals: 0,
    refusal: { status: 503, code: 'SlowDown' },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return storage
}

/** Checks the AWS Signature Version 4 of a request; returns the problem, if any. */
function signatureProblem(request: IncomingMessage, body: Buffer, keys: Keys): string | undefined {
  const pattern = /^AWS4-HMAC-SHA256 Credential=(.+?)\/(.+?), SignedHeaders=(.+?), Signature=([0-9a-f]+)$/
  const [, accessKey, scope = '', signed = '', signature] = pattern.exec(request.headers.authorization ?? '') ?? []
  if (accessKey !== keys.accessKey) return 'InvalidAccessKeyId'
  const bodyHash = String(request.headers['x-amz-content-sha256'])
  if (bodyHash !== 'UNSIGNED-PAYLOAD' && bodyHash !== sha256(body)) return 'XAmzContentSHA256Mismatch'
  const headers = signed.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`)
  const canonical = [request.method, request.url, '', headers.join(''), signed, bodyHash].join('\n')
  const [date = '', region = '', service = '', end = ''] = scope.split('/')
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n')
  const key = [date, region, service, end].reduce<Buffer | string>(
    (key, part) => hmac(key, part),
    `AWS4${keys.secretKey}`,
  )
  if (region !== keys.region) return 'AuthorizationHeaderMalformed'
  return hmac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch'
}

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

import { parentPort, workerData } from 'node:worker_threads'
import { decodePicture, UnusablePicture } from './decode.ts'

try {
  parentPort?.postMessage({ decoded: decodePicture(Buffer.from(workerData as Uint8Array)) })
} catch (error) {
  parentPort?.postMessage({ problem: error instanceof UnusablePicture ? error.message : undefined })
}

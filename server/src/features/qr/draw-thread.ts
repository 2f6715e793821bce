import { parentPort } from 'node:worker_threads'
import { AppError } from '../../platform/errors.ts'
import { type DrawTask, drawCode, scanCode } from './draw.ts'

/** Draws a task, or with `isScan` tests whether its picture scans. */
export type DrawRequest = { id: number; task: DrawTask; isScan: boolean }
/** `problem` explains what is wrong with the task. */
export type DrawAnswer = {
  id: number
  bytes?: Uint8Array<ArrayBuffer>
  scans?: boolean
  problem?: string
  failure?: string
}

async function answer({ id, task, isScan }: DrawRequest): Promise<DrawAnswer> {
  try {
    if (isScan) return { id, scans: await scanCode(task) }
    return { id, bytes: await drawCode(task) }
  } catch (error) {
    if (error instanceof AppError && error.code === 'unprocessable_entity') return { id, problem: error.message }
    return { id, failure: String(error) }
  }
}

parentPort?.on('message', async (request: DrawRequest) => parentPort?.postMessage(await answer(request)))

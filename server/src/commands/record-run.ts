import { recordRun } from '../features/operator/service.ts'
import type { Handles } from './run.ts'

type Run = Parameters<typeof recordRun>

/** Records a run for the operator page. One that can't be recorded, as before the migrations of this version, counts too. */
export async function tryToRecord(handles: Handles, kind: Run[1], run: Run[2]): Promise<void> {
  try {
    await recordRun(handles, kind, run)
  } catch (error) {
    process.stderr.write(`The operator page does not know of this ${kind}: ${(error as Error).message}\n`)
  }
}

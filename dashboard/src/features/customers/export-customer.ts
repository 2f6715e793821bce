import { call } from '../../app/call.ts'
import { saveFile } from '../../ui/save-file.ts'

/** Saves everything that is stored about a customer as JSON. Returns the name of the file. */
export async function exportCustomer(id: string, workspace: string): Promise<string> {
  const document: unknown = await call('exportCustomer', { params: { id } }, workspace)
  const name = `${id}.json`
  saveFile(name, new Blob([JSON.stringify(document, null, 2), '\n'], { type: 'application/json' }))
  return name
}

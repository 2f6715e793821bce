import { z } from 'zod'
import { instant, listing } from './common.ts'
import { operation } from './operation.ts'
import { label } from './tags.ts'

const accessLevel = z
  .enum(['write', 'read'])
  .nullable()
  .describe('Access level of workspace members; null for no access.')

export const folder = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    type: z.enum(['default', 'mega']),
    accessLevel,
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Folder' })
export type Folder = z.infer<typeof folder>

const name = label(190).describe('Folder name, unique in the workspace, ignoring case.')
const description = z
  .string()
  .max(500)
  .refine((text) => !/[^\P{Cc}\n\r\t]|\p{Cs}/u.test(text), 'it has a control character')
  .nullable()

export const newFolder = z
  .object({ name, description: description.optional(), accessLevel: accessLevel.default('write') })
  .meta({ id: 'NewFolder' })
export type NewFolder = z.infer<typeof newFolder>

export const folderPatch = z
  .object({ name: name.optional(), description: description.optional(), accessLevel: accessLevel.optional() })
  .meta({ id: 'FolderPatch' })
export type FolderPatch = z.infer<typeof folderPatch>

const params = z.object({ id: z.string().describe('Id of the folder.') })

export const listFolders = operation({
  id: 'listFolders',
  method: 'get',
  path: '/folders',
  summary: 'List folders',
  tag: 'Folders',
  scope: 'folders.read',
  query: z.object({ search: z.string().max(190).optional(), ...listing(50, ['name', 'createdAt'], 'asc') }),
  response: z.array(folder),
})
export type FoldersQuery = z.output<typeof listFolders.query>

export const createFolder = operation({
  id: 'createFolder',
  method: 'post',
  path: '/folders',
  summary: 'Create a folder',
  tag: 'Folders',
  scope: 'folders.write',
  body: newFolder,
  status: 201,
  response: folder,
})

export const updateFolder = operation({
  id: 'updateFolder',
  method: 'patch',
  path: '/folders/{id}',
  summary: 'Update a folder',
  tag: 'Folders',
  scope: 'folders.write',
  params,
  body: folderPatch,
  response: folder,
})

export const deleteFolder = operation({
  id: 'deleteFolder',
  method: 'delete',
  path: '/folders/{id}',
  summary: 'Delete a folder',
  description: 'Deletes the folder. Its links stay, without a folder.',
  tag: 'Folders',
  scope: 'folders.write',
  params,
  response: z.strictObject({ id: z.string() }),
})
